import { CHILD_LABELS, deployNamespaceOf, MANAGED_BY, type WorkloadRef } from "../../apis/index.ts";
import type { ApiObject, ObjectWatch } from "../../kubernetes/index.ts";
import { componentOf } from "./names.ts";

/** Children of a kind by the workload whose name and component they carry. */
export interface ChildrenIndex<T extends ApiObject> {
  of(workload: WorkloadRef): T[];
}

const NONE: never[] = [];

/** @param watch must not have been started yet */
export function indexChildren<T extends ApiObject>(watch: Pick<ObjectWatch<T>, "onChange">): ChildrenIndex<T> {
  const byWorkload = new Map<string, Map<string, T>>();
  const remove = (object: T) => {
    const key = placeOf(object);
    const known = byWorkload.get(key);
    known?.delete(object.metadata.name);
    if (known?.size === 0) byWorkload.delete(key);
  };
  watch.onChange((object, before, isGone) => {
    // Its labels may have been others.
    if (before) remove(before);
    if (isGone || object.metadata.labels?.[CHILD_LABELS.managedBy] !== MANAGED_BY) return;
    const key = placeOf(object);
    byWorkload.set(key, (byWorkload.get(key) ?? new Map()).set(object.metadata.name, object));
  });
  return {
    of(workload) {
      const key = keyOf(deployNamespaceOf(workload.namespace), componentOf(workload), workload.name);
      const found = byWorkload.get(key);
      return found ? [...found.values()] : NONE;
    },
  };
}

function placeOf({ metadata: { namespace = "", labels = {} } }: ApiObject): string {
  return keyOf(namespace, labels[CHILD_LABELS.component] ?? "", labels[CHILD_LABELS.name] ?? "");
}

function keyOf(namespace: string, component: string, name: string): string {
  return `${namespace}/${component}/${name}`;
}
