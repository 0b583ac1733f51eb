import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import Type from "typebox";
import { API_VERSION } from "./group.ts";
import type { Fault } from "./kind-definition.ts";
import { KINDS, type Kind, type SpecOf } from "./kinds.ts";
import { NAME_MAX_LENGTH, NAME_PATTERN, NAMESPACE_MAX_LENGTH, NAMESPACE_PATTERN } from "./metadata.ts";
import { nearestName } from "./nearest-name.ts";

const StringMap = Type.Record(Type.String(), Type.String());

/** The schema of a whole manifest of a kind; unknown fields are refused, as an editor and `sless plan` want it. */
export function manifestSchema(kind: Kind): Record<string, unknown> {
  const schema = Type.Object({
    apiVersion: Type.Literal(API_VERSION),
    kind: Type.Literal(kind),
    metadata: Type.Object({
      name: Type.String({ pattern: NAME_PATTERN, maxLength: NAME_MAX_LENGTH }),
      namespace: Type.Optional(Type.String({ pattern: NAMESPACE_PATTERN, maxLength: NAMESPACE_MAX_LENGTH })),
      labels: Type.Optional(StringMap),
      annotations: Type.Optional(StringMap),
    }),
    spec: KINDS[kind].spec,
  });
  return closed(schema) as Record<string, unknown>;
}

/**
 * Closes every object that lists its properties: unknown fields become faults. Maps take values of their type under
 * any key: typebox writes them with the pattern `^.*$`, which no key with a line break fits.
 */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== "object" || schema === null) return schema;
  const copy: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(schema)) {
    if (key === "patternProperties") copy.additionalProperties = closed(Object.values(value as object)[0]);
    else copy[key] = closed(value);
  }
  if (copy.type === "object" && copy.properties && copy.additionalProperties === undefined)
    copy.additionalProperties = false;
  return copy;
}

const FORMATS = { "date-time": /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/ };

function compiler(schemaOf: (kind: Kind) => unknown, options: { useDefaults?: boolean } = {}) {
  const compiled = new Map<Kind, ValidateFunction>();
  // The schemas are ours and a test judges them: every command would wait for that of all schemas to be compiled.
  const trusted = { meta: false, validateSchema: false };
  const ajv = new Ajv({ allErrors: true, verbose: true, strict: false, formats: FORMATS, ...trusted, ...options });
  return (kind: Kind): ValidateFunction => {
    let validate = compiled.get(kind);
    if (!validate) {
      validate = ajv.compile(schemaOf(kind) as object);
      compiled.set(kind, validate);
    }
    return validate;
  };
}

const manifestValidator = compiler(manifestSchema);
const statusValidator = compiler((kind) => closed(KINDS[kind].status));
const defaulter = compiler((kind) => closed(KINDS[kind].spec), { useDefaults: true });

/**
 * All faults of a manifest of a known kind: schema first, then, when the spec fits, the rules between fields.
 * Paths start at the manifest's root (`["spec", "timeoutSec"]`). Pure.
 */
export function manifestFaults(kind: Kind, manifest: unknown): Fault[] {
  const validate = manifestValidator(kind);
  if (!validate(manifest)) return dedupe((validate.errors ?? []).map(toFault));
  const spec = (manifest as { spec: Record<string, unknown> }).spec;
  return KINDS[kind].rules.flatMap((rule) => rule.faults(spec));
}

/** All faults of a status; paths start with "status". Pure. */
export function statusFaults(kind: Kind, status: unknown): Fault[] {
  const validate = statusValidator(kind);
  if (validate(status)) return [];
  return dedupe((validate.errors ?? []).map(toFault)).map((fault) => ({ ...fault, path: ["status", ...fault.path] }));
}

/** The spec with the schema's defaults filled in, as an API server with our CRDs returns it; the input stays. */
export function withDefaults<K extends Kind>(kind: K, spec: Partial<SpecOf<K>>): SpecOf<K> {
  const copy = structuredClone(spec);
  defaulter(kind)(copy);
  return copy as SpecOf<K>;
}

function dedupe(faults: Fault[]): Fault[] {
  const seen = new Set<string>();
  return faults.filter((fault) => {
    const id = JSON.stringify(fault);
    return seen.has(id) ? false : seen.add(id);
  });
}

function pathOf(error: ErrorObject): (string | number)[] {
  const parts = error.instancePath
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
  return parts.map((part) => (/^\d+$/.test(part) ? Number(part) : part));
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}

function typeFault(error: ErrorObject): string {
  const wanted = String((error.params as { type: string }).type);
  const article = /^[aeio]/.test(wanted) ? "an" : "a";
  const number =
    /^(integer|number)$/.test(wanted) && typeof error.data === "string" ? Number(error.data || "x") : Number.NaN;
  const remedy = Number.isFinite(number) ? `; write ${number} without quotes` : "";
  return `wants ${article} ${wanted}, not ${shown(error.data)}${remedy}`;
}

/** One ajv error in words that say what to do. */
function toFault(error: ErrorObject): Fault {
  const path = pathOf(error);
  const params = error.params as Record<string, unknown>;
  switch (error.keyword) {
    case "additionalProperties": {
      const field = String(params.additionalProperty);
      const known = Object.keys((error.parentSchema as { properties?: object }).properties ?? {});
      const near = nearestName(field, known);
      return {
        path: [...path, field],
        message: near ? `unknown field; did you mean ${near}?` : `unknown field; known here: ${known.join(", ")}`,
      };
    }
    case "required":
      return { path, message: `${String(params.missingProperty)} is missing; add it` };
    case "enum": {
      const allowed = (params.allowedValues as unknown[]).map(String);
      const near = nearestName(String(error.data), allowed);
      return {
        path,
        message: `${shown(error.data)} is none of ${allowed.join(", ")}${near ? `; did you mean ${near}?` : ""}`,
      };
    }
    case "const":
      return { path, message: `wants ${shown(params.allowedValue)}, not ${shown(error.data)}` };
    case "type":
      return { path, message: typeFault(error), wants: String(params.type) };
    case "minimum":
    case "maximum":
      return { path, message: `${shown(error.data)} is out of range: wants ${rangeOf(error)}` };
    case "pattern":
      return { path, message: patternMessage(path, error) };
    case "maxLength":
      return { path, message: `is longer than ${String(params.limit)} characters; shorten it` };
    case "minLength":
      return { path, message: "is empty; give it a value or remove it" };
    default:
      return { path, message: error.message ?? "is not valid" };
  }
}

function rangeOf(error: ErrorObject): string {
  const { minimum, maximum } = error.parentSchema as { minimum?: number; maximum?: number };
  if (minimum === undefined) return `at most ${maximum}`;
  return maximum === undefined ? `at least ${minimum}` : `${minimum} to ${maximum}`;
}

function patternMessage(path: readonly (string | number)[], error: ErrorObject): string {
  const last = path.at(-1);
  if (last === "name" || last === "functionRef" || last === "namespace") {
    return `${shown(error.data)} is no DNS label: use lower-case letters, digits and "-", starting with a letter`;
  }
  if (last === "entrypoint")
    return `${shown(error.data)} is no entry point; write module.function, for example handler.handle`;
  if (last === "interval" || last === "timeout")
    return `${shown(error.data)} is no duration; write for example 30s, 5m or 1h30m`;
  return `${shown(error.data)} does not fit ${String((error.params as { pattern: string }).pattern)}`;
}

/** A fault when `runtime` names none of the installed runtimes; the names come from `runtimes/`. */
export function runtimeFault(runtime: string | undefined, known: readonly string[]): Fault | undefined {
  if (runtime === undefined || known.includes(runtime)) return undefined;
  const near = nearestName(runtime, known);
  return {
    path: ["spec", "runtime"],
    message: `"${runtime}" is no runtime here; known: ${known.join(", ")}${near ? `; did you mean ${near}?` : ""}`,
  };
}

/** A fault per field that only sless writes (`s3Bucket`, `s3Key`). */
export function managedFieldFaults(spec: Readonly<Record<string, unknown>>): Fault[] {
  return ["s3Bucket", "s3Key"]
    .filter((field) => spec[field] !== undefined)
    .map((field) => ({ path: ["spec", field], message: "is set by sless after the source is stored; remove it" }));
}
