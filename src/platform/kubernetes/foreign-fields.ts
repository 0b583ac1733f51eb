/** An entry of `metadata.managedFields`: who set which fields. */
export interface ManagedFields {
  readonly manager?: string;
  readonly operation?: string;
  readonly apiVersion?: string;
  readonly subresource?: string;
  readonly fieldsType?: string;
  readonly fieldsV1?: FieldSet;
  readonly time?: string;
}

/** A set of fields as a tree: `f:spec` → `f:replicas` → {}. */
export interface FieldSet {
  readonly [step: string]: FieldSet;
}

/** Who writes children. */
export const FIELD_MANAGER = "sless-reconciler";

/** What decides how a child behaves; labels and annotations of others are theirs. */
const OURS = ["f:spec", "f:data", "f:type", "f:immutable"];
/** Set by `kubectl rollout restart`: it asks for new pods, and changes nothing of what they are. */
const RESTARTED_AT = ["f:spec", "f:template", "f:metadata", "f:annotations", "f:kubectl.kubernetes.io/restartedAt"];

/** Somebody added fields that no manifest of sless has, and that applying one leaves. */
export function hasForeignFields(entries: readonly ManagedFields[] = []): boolean {
  return entries.some((entry) => foreignPart(entry) !== undefined);
}

/**
 * The entries after sless took over what others set in the spec: the next apply removes what it does not want of it.
 * Nobody else's can be removed by applying.
 */
export function withForeignFieldsTaken(entries: readonly ManagedFields[]): ManagedFields[] {
  const parts = entries.map((entry) => ({ entry, foreign: foreignPart(entry) }));
  const taken = parts.flatMap(({ foreign }) => (foreign ? [foreign] : []));
  const own = entries.find(isOwnApply);
  const rest = parts.filter(({ entry, foreign }) => !foreign && entry !== own).map(({ entry }) => entry);
  const base: ManagedFields = own ?? {
    ...entries.find((entry) => foreignPart(entry)),
    manager: FIELD_MANAGER,
    operation: "Apply",
    fieldsV1: {},
  };
  return [{ ...base, fieldsV1: taken.reduce(union, base.fieldsV1 ?? {}) }, ...rest];
}

function isOwnApply({ manager, operation, subresource }: ManagedFields): boolean {
  return manager === FIELD_MANAGER && operation === "Apply" && !subresource;
}

/** What an admission webhook changes while sless writes counts as an update of sless: to fight it would never end. */
function foreignPart(entry: ManagedFields): FieldSet | undefined {
  if (entry.manager === FIELD_MANAGER || entry.subresource === "status") return undefined;
  const fields = Object.entries(entry.fieldsV1 ?? {}).filter(([step]) => OURS.includes(step));
  const rest = without(Object.fromEntries(fields), RESTARTED_AT);
  return Object.keys(rest).length > 0 ? Object.fromEntries(fields) : undefined;
}

/** The set less one field, and less what then holds nothing. */
function without(set: FieldSet, [step, ...path]: readonly string[]): FieldSet {
  const inner = step === undefined ? undefined : set[step];
  if (step === undefined || inner === undefined) return set;
  const { [step]: _, ...others } = set;
  const rest = path.length === 0 ? {} : without(inner, path);
  // `.` stands for the map itself.
  return Object.keys(rest).every((key) => key === ".") ? others : { ...others, [step]: rest };
}

function union(a: FieldSet, b: FieldSet): FieldSet {
  const merged: Record<string, FieldSet> = { ...a };
  for (const [step, inner] of Object.entries(b)) merged[step] = union(merged[step] ?? {}, inner);
  return merged;
}
