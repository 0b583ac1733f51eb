import {
  API_VERSION,
  envRules,
  type Fault,
  type Kind,
  manifestFaults,
  type ObjectKey,
  repositoryFieldRules,
  runtimeFault,
  triggerFieldRules,
} from "../apis/index.ts";
import { isRefName, isVersionRange } from "../source/index.ts";
import type { FieldFault } from "./refused-request.ts";
import { INNER_FIELDS, restName, STORED_FIELDS, WRITABLE_FIELDS } from "./rest-fields.ts";

type Spec = Readonly<Record<string, unknown>>;

/** Rules that judge a field by itself, so also beside other fields that are faulty. */
const RULES_OF_SINGLE_FIELDS = [...envRules, ...repositoryFieldRules, ...triggerFieldRules];

/** What of a server decides whether a value is known. */
export interface Known {
  /** Names of the runtimes of this server. */
  readonly runtimes: readonly string[];
  /** Why this server follows no repository at an address, in words. */
  urlFault(url: string): string | undefined;
}

/**
 * All faults of an object as it would be stored, in the names of the REST API. Pure.
 *
 * @param isChanged the field's value is new: an old one that is no longer known locks no object
 */
export function specFaults(
  kind: Kind,
  key: Partial<ObjectKey>,
  spec: Spec,
  { known, isChanged }: { known: Known; isChanged: (field: string) => boolean },
): FieldFault[] {
  const manifest = { apiVersion: API_VERSION, kind, metadata: key, spec };
  const ofManifest = manifestFaults(kind, manifest);
  // Rules between fields are asked for once the schema fits: a wrong name hides none of them.
  const isOfName = ofManifest.length > 0 && ofManifest.every(({ path }) => path[0] === "metadata");
  const ofSpec = isOfName ? manifestFaults(kind, { ...manifest, metadata: { ...key, name: "x" } }) : [];
  const ofSchema = [...ofManifest, ...ofSpec];
  const sound = withoutFaulty(spec, ofSchema);
  const ofFields = RULES_OF_SINGLE_FIELDS.flatMap((rule) => rule.faults(sound));
  const ofTexts = textFaults(["spec"], withoutFaulty(sound, ofFields));
  const all = [...ofSchema, ...ofFields, ...ofTexts, ...unknownFaults(sound, known, isChanged)];
  const told = all.map((fault) => toFieldFault(kind, fault));
  const unique = new Map(told.map((fault) => [`${fault.field}\n${fault.message}`, fault]));
  return [...unique.values()];
}

/** Texts that JSON can carry and no manifest: what is written here must be able to come back into folders. */
function textFaults(path: readonly string[], value: unknown): Fault[] {
  if (typeof value === "object" && value !== null)
    return Object.entries(value).flatMap(([name, inner]) => textFaults([...path, name], inner));
  if (typeof value !== "string" || (value.isWellFormed() && !value.includes("\0"))) return [];
  return [{ path: [...path], message: "holds \\0 or half a surrogate pair, which is no text; remove it" }];
}

function unknownFaults({ runtime, url, ref }: Spec, known: Known, isChanged: (field: string) => boolean): Fault[] {
  const faults: Fault[] = [];
  if (typeof runtime === "string" && isChanged("runtime")) {
    const fault = runtimeFault(runtime, known.runtimes);
    if (fault) faults.push(fault);
  }
  if (typeof url === "string" && isChanged("url")) {
    const cause = known.urlFault(url);
    if (cause !== undefined) faults.push({ path: ["spec", "url"], message: `cannot be followed: ${cause}` });
  }
  return isChanged("ref") ? [...faults, ...refFaults(ref)] : faults;
}

function refFaults(ref: unknown): Fault[] {
  const { semver, ...names } = (ref ?? {}) as Readonly<Record<string, unknown>>;
  const faults: Fault[] = ["branch", "tag"]
    .filter((field) => typeof names[field] === "string" && !isRefName(names[field]))
    .map((field) => ({ path: ["spec", "ref", field], message: `is no name that Git gives a ${field}; correct it` }));
  if (typeof semver === "string" && !isVersionRange(semver))
    faults.push({ path: ["spec", "ref", "semver"], message: 'is no range of versions; write for example "1.x"' });
  return faults;
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

function toFieldFault(kind: Kind, { path, message }: Fault): FieldFault {
  const [root, ...below] = path.map(String);
  const missing = (MISSING.exec(message) ?? NEEDED.exec(message))?.[1];
  if (missing !== undefined && below.length === 0)
    return { field: restName(kind, missing), message: MISSING.test(message) ? "is missing; add it" : inRest(message) };
  const [field, ...entries] = below;
  const names =
    field === undefined ? [] : [root === "spec" ? restName(kind, field) : field, ...innerNames(field, entries)];
  return { field: names.join("/"), message: inRest(message) };
}

function innerNames(field: string, entries: readonly string[]): string[] {
  const names = Object.entries(INNER_FIELDS[field] ?? {});
  return entries.map((entry) => names.find(([, specName]) => specName === entry)?.[0] ?? entry);
}

/** Names that differ between a manifest and the REST API; words of a message that stand in quotes are the client's. */
const SPEC_NAMES = new Map(
  [...Object.values(WRITABLE_FIELDS), ...Object.values(INNER_FIELDS), STORED_FIELDS]
    .flatMap((names) => Object.entries(names))
    .filter(([rest, spec]) => rest !== spec)
    .map(([rest, spec]) => [spec, rest]),
);
const WORDS = /"(?:[^"\\]|\\.)*"|\b(?:spec\.)?([A-Za-z0-9]+)\b/g;

function inRest(message: string): string {
  return message.replaceAll(WORDS, (whole, word?: string) =>
    word === undefined ? whole : (SPEC_NAMES.get(word) ?? word),
  );
}
