import type { WorkloadRef } from "../../apis/index.ts";
import type { ApiObject, ObjectWatch } from "../../kubernetes/index.ts";
import { CHILD_LABELS, componentOf, deployNamespaceOf, MANAGED_BY } from "./names.ts";

/** Children of a kind by the workload whose name and component they carry. */
export interface ChildrenIndex<T extends ApiObject> {
  of(workload: WorkloadRef): T[];
}

const NONE: never[] = [];

/** @param watch must not have been started yet */
export function indexChildren<T extends ApiObject>(watch: Pick<ObjectWatch<T>, "onChange">): ChildrenIndex<T> {
  const byWorkload = new Map<string, Map<string, T>>();
  watch.onChange((object, _before, isGone) => {
    const { name, namespace = "", labels = {} } = object.metadata;
    if (labels[CHILD_LABELS.managedBy] !== MANAGED_BY) return;
    const key = keyOf(namespace, labels[CHILD_LABELS.component] ?? "", labels[CHILD_LABELS.name] ?? "");
    const known = byWorkload.get(key);
    if (!isGone) {
      if (known) known.set(name, object);
      else byWorkload.set(key, new Map([[name, object]]));
      return;
    }
    known?.delete(name);
    if (known?.size === 0) byWorkload.delete(key);
  });
  return {
    of(workload) {
      const key = keyOf(deployNamespaceOf(workload.namespace), componentOf(workload), workload.name);
      const found = byWorkload.get(key);
      return found ? [...found.values()] : NONE;
    },
  };
}

function keyOf(namespace: string, component: string, name: string): string {
  return `${namespace}/${component}/${name}`;
}
