import {
  finalizersFor,
  type Kind,
  nearestName,
  type ObjectIntent,
  type ObjectKey,
  type ObjectOf,
  withDefaults,
} from "../apis/index.ts";
import { mergePatch, mergePatchBetween } from "../resources/index.ts";
import { type FieldFault, refuseFields } from "./refused-request.ts";
import { INNER_FIELDS, KEPT_FIELDS, STORED_FIELDS, TOLD_FIELDS, WRITABLE_FIELDS } from "./rest-fields.ts";
import { type Known, specFaults } from "./spec-faults.ts";

type Fields = Readonly<Record<string, unknown>>;

/** What a merge or a replacement comes to. */
export interface WantedChange {
  /** Merge patch of the spec; undefined when nothing changes. */
  readonly spec: Record<string, unknown> | undefined;
  /** Fields of the spec that the request names, changed or not. */
  readonly named: readonly string[];
}

// All functions are pure. A value of null is a field that is left out.

/**
 * The object that a POST creates.
 *
 * @throws RefusedRequest `invalid_request` with every faulty field
 */
export function createdIntent(kind: Kind, namespace: string, body: unknown, known: Known): ObjectIntent<Kind> {
  const fields = fieldsOf(body);
  const { spec, faults } = readFields(kind, fields, undefined, { takesTold: true });
  const name = fields.name ?? undefined;
  if (fields.namespace !== undefined) faults.push(...otherThan("namespace", fields.namespace, namespace));
  const key = { namespace, ...(name !== undefined && { name: name as string }) };
  faults.push(...specFaults(kind, key, spec, { known, isChanged: () => true }));
  refuseFields(faults);
  return { kind, metadata: { namespace, name: name as string, ...finalizersFor(kind) }, spec };
}

/**
 * What a PUT changes: required fields must be there, omitted ones return to their defaults; the source stays.
 *
 * @throws RefusedRequest `invalid_request`
 */
export function replacement(live: ObjectOf<Kind>, body: unknown, known: Known): WantedChange {
  const fields = fieldsOf(body);
  const { spec, faults } = readFields(live.kind, fields, live, { takesTold: true });
  const kept = spec.functionRef === undefined ? pick(live.spec, KEPT_FIELDS) : {};
  return wantedChange(live, { ...kept, ...spec }, { faults, named: Object.keys(spec), known });
}

/**
 * What a PATCH changes (RFC 7396): only what it names; null returns a field to its default.
 *
 * @throws RefusedRequest `invalid_request`
 */
export function merge(live: ObjectOf<Kind>, body: unknown, known: Known): WantedChange {
  const fields = fieldsOf(body);
  const { patch, faults } = readFields(live.kind, fields, live, { takesTold: false });
  const spec = mergePatch(live.spec, patch) as Fields;
  return wantedChange(live, spec, { faults, named: Object.keys(patch), known });
}

function wantedChange(
  live: ObjectOf<Kind>,
  wanted: Fields,
  { faults, named, known }: { faults: FieldFault[]; named: string[]; known: Known },
): WantedChange {
  const { name, namespace } = live.metadata;
  const spec = withoutEmptyMaps(wanted, live.spec);
  const isChanged = (field: string) => spec[field] !== (live.spec as Fields)[field];
  refuseFields([...faults, ...specFaults(live.kind, { name, namespace }, spec, { known, isChanged })]);
  return { spec: mergePatchBetween({ ...live.spec }, { ...withDefaults(live.kind, spec) }), named };
}

/** An answer tells empty maps where the spec has none; sent back, they are no change. */
function withoutEmptyMaps(spec: Fields, live: object): Fields {
  const isEmpty = (value: unknown) => typeof value === "object" && value !== null && Object.keys(value).length === 0;
  return Object.fromEntries(
    Object.entries(spec).filter(([field, value]) => Object.hasOwn(live, field) || !isEmpty(value)),
  );
}

interface ReadFields {
  /** What has a value, by the names of the spec. */
  readonly spec: Fields;
  /** All that was named, null for null. */
  readonly patch: Fields;
  readonly faults: FieldFault[];
}

function readFields(
  kind: Kind,
  fields: Fields,
  live: ObjectOf<Kind> | undefined,
  { takesTold }: { takesTold: boolean },
): ReadFields {
  const writable = WRITABLE_FIELDS[kind];
  const patch: Record<string, unknown> = {};
  const faults: FieldFault[] = [];
  for (const [field, value] of Object.entries(fields)) {
    if (Object.hasOwn(writable, field)) patch[writable[field]!] = inSpec(writable[field]!, value, field, faults);
    else faults.push(...otherFaults(kind, field, value, { live, takesTold }));
  }
  return { spec: Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== null)), patch, faults };
}

/** A field's value with the names of the spec for what is in it. */
function inSpec(specName: string, value: unknown, field: string, faults: FieldFault[]): unknown {
  const names = INNER_FIELDS[specName];
  if (!names || typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const inner: Record<string, unknown> = {};
  for (const [name, one] of Object.entries(value)) {
    if (Object.hasOwn(names, name)) inner[names[name]!] = one;
    else faults.push({ field: `${field}/${name}`, message: unknownField(name, Object.keys(names)) });
  }
  return inner;
}

/** What is wrong with a field that a client does not set. */
function otherFaults(
  kind: Kind,
  field: string,
  value: unknown,
  { live, takesTold }: { live: ObjectOf<Kind> | undefined; takesTold: boolean },
): FieldFault[] {
  if (field === "name" || field === "namespace") return live ? otherThan(field, value, live.metadata[field]) : [];
  if (Object.hasOwn(STORED_FIELDS, field)) {
    const present = (live?.spec as Fields | undefined)?.[STORED_FIELDS[field]!];
    if (value === present || (value === null && present === undefined)) return [];
    return [{ field, message: "is set by sless when a source is uploaded; leave it out" }];
  }
  if (TOLD_FIELDS[kind].includes(field))
    return takesTold ? [] : [{ field, message: "is told by sless and cannot be written; leave it out" }];
  return [{ field, message: unknownField(field, ["name", ...Object.keys(WRITABLE_FIELDS[kind])]) }];
}

function unknownField(field: string, known: readonly string[]): string {
  const near = nearestName(field, known) ?? known.find((name) => camelCase(name) === camelCase(field));
  return near ? `is no known field; did you mean ${near}?` : `is no known field; known here: ${known.join(", ")}`;
}

function camelCase(field: string): string {
  return field.slice(0, 64).replaceAll("_", "").toLowerCase();
}

function otherThan(field: keyof ObjectKey, value: unknown, present: string): FieldFault[] {
  return value === present || value === null
    ? []
    : [{ field, message: `is ${present} in the path and cannot be another; leave it out` }];
}

const DEPTH_MAX = 32;

/** @throws RefusedRequest `invalid_request` for what is no JSON object, or one deeper than any of ours */
function fieldsOf(body: unknown): Fields {
  if (typeof body !== "object" || body === null || Array.isArray(body))
    refuseFields([{ field: "", message: "the body wants a JSON object, sent as application/json" }]);
  if (isDeeper(body, DEPTH_MAX))
    refuseFields([{ field: "", message: `the body nests deeper than ${DEPTH_MAX} levels` }]);
  return body as Fields;
}

/** Level by level, for the stack is what a deep value exhausts. */
function isDeeper(value: unknown, levels: number): boolean {
  let level = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > levels) return true;
    level = level.flatMap((one) => (typeof one === "object" && one !== null ? Object.values(one) : []));
  }
  return false;
}

function pick(spec: object, names: readonly string[]): Fields {
  return Object.fromEntries(Object.entries(spec).filter(([name]) => names.includes(name)));
}
