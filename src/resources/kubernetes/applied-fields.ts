import type { Kind, ObjectOf } from "../../apis/index.ts";

/** One writer's entry of `metadata.managedFields`. */
export interface ManagedFields {
  readonly manager?: string;
  readonly operation?: "Apply" | "Update";
  readonly subresource?: string;
  readonly fieldsV1?: FieldsV1;
}

/** `f:<name>` are fields, `.` is the object itself, `v:` and `k:` are items of lists. */
interface FieldsV1 {
  readonly [key: string]: FieldsV1;
}

export type Managed<K extends Kind> = ObjectOf<K> & {
  readonly metadata: { readonly managedFields?: readonly ManagedFields[] };
};

/** Names of the spec's fields that the manager applied and still has, sorted. Pure. */
export function appliedSpecFields(managed: readonly ManagedFields[], manager: string): string[] {
  const applied = managed.filter((entry) => isApplyOf(entry, manager));
  return [...new Set(applied.flatMap((entry) => namesIn(entry.fieldsV1?.["f:spec"])))].sort();
}

/** Somebody else has something inside of the map at `path` (`["spec", "env"]`). Pure. */
export function isSharedMap(managed: readonly ManagedFields[], manager: string, path: readonly string[]): boolean {
  return managed
    .filter((entry) => !isApplyOf(entry, manager))
    .some(({ fieldsV1 }) => {
      let fields: FieldsV1 | undefined = fieldsV1;
      for (const name of path) fields = fields?.[`f:${name}`];
      return namesIn(fields).length > 0;
    });
}

function isApplyOf({ manager, operation, subresource }: ManagedFields, name: string): boolean {
  return manager === name && operation === "Apply" && !subresource;
}

function namesIn(fields: FieldsV1 | undefined): string[] {
  return Object.keys(fields ?? {}).flatMap((key) => (key.startsWith("f:") ? [key.slice(2)] : []));
}
