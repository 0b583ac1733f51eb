import {
  API_VERSION,
  envRules,
  eventJsonIsJson,
  type Fault,
  manifestFaults,
  type ObjectKey,
  runtimeFault,
} from "../apis/index.ts";
import type { FieldFault } from "./refused-request.ts";
import { restName, STORED_FIELDS, WRITABLE_FIELDS, type WrittenKind } from "./rest-fields.ts";

type Spec = Readonly<Record<string, unknown>>;

/** Rules that judge a field by itself, so also beside other fields that are faulty. */
const RULES_OF_SINGLE_FIELDS = [...envRules, eventJsonIsJson];

/** All faults of an object as it would be stored, in the names of the REST API. Pure. */
export function specFaults(
  kind: WrittenKind,
  key: Partial<ObjectKey>,
  spec: Spec,
  knownRuntimes: readonly string[] | undefined,
): FieldFault[] {
  const manifest = { apiVersion: API_VERSION, kind, metadata: key, spec };
  const ofSchema = manifestFaults(kind, manifest);
  const sound = withoutFaulty(spec, ofSchema);
  const ofFields = RULES_OF_SINGLE_FIELDS.flatMap((rule) => rule.faults(sound));
  const ofRuntime =
    knownRuntimes && typeof sound.runtime === "string" ? runtimeFault(sound.runtime, knownRuntimes) : undefined;
  const all = [...ofSchema, ...ofFields, ...(ofRuntime ? [ofRuntime] : [])].map((fault) => toFieldFault(kind, fault));
  const unique = new Map(all.map((fault) => [`${fault.field}\n${fault.message}`, fault]));
  return [...unique.values()];
}

/** The spec less what the schema refuses: of maps only the refused entries. */
function withoutFaulty(spec: Spec, faults: readonly Fault[]): Spec {
  const copy: Record<string, unknown> = { ...spec };
  for (const { path } of faults) {
    const [, field, entry] = path.map(String);
    if (field === undefined) continue;
    const value = copy[field];
    const isEntry = entry !== undefined && typeof value === "object" && value !== null && !Array.isArray(value);
    if (isEntry) copy[field] = Object.fromEntries(Object.entries(value).filter(([name]) => name !== entry));
    else delete copy[field];
  }
  return copy;
}

const MISSING = /^(\w+) is missing; add it$/;
const NEEDED = / needs (\w+); add spec\.\w+$/;

function toFieldFault(kind: WrittenKind, { path, message }: Fault): FieldFault {
  const [root, ...below] = path.map(String);
  const missing = (MISSING.exec(message) ?? NEEDED.exec(message))?.[1];
  if (missing !== undefined && below.length === 0)
    return { field: restName(kind, missing), message: MISSING.test(message) ? "is missing; add it" : inRest(message) };
  const [field, ...entries] = below;
  const names = field === undefined ? [] : [root === "spec" ? restName(kind, field) : field, ...entries];
  return { field: names.join("/"), message: inRest(message) };
}

/** Names that differ between a manifest and the REST API; words of a message that stand in quotes are the client's. */
const SPEC_NAMES = new Map(
  Object.values(WRITABLE_FIELDS)
    .flatMap((names) => Object.entries({ ...names, ...STORED_FIELDS }))
    .filter(([rest, spec]) => rest !== spec)
    .map(([rest, spec]) => [spec, rest]),
);
const WORDS = /"(?:[^"\\]|\\.)*"|\b(?:spec\.)?([A-Za-z0-9]+)\b/g;

function inRest(message: string): string {
  return message.replaceAll(WORDS, (whole, word?: string) =>
    word === undefined ? whole : (SPEC_NAMES.get(word) ?? word),
  );
}
