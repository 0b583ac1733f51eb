import { isDeepStrictEqual } from "node:util";
import { SlessError } from "../../errors/index.ts";
import type { Writable } from "../object-faults.ts";

/** An object's writable part by leaf: JSON pointer without the first slash → scalar, list or empty map. */
export type Fields = ReadonlyMap<string, unknown>;

/** Deeper values than any schema of ours are refused before they can exhaust the stack. */
const MAX_DEPTH = 32;

export function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * A deep copy of JSON data without the properties that are undefined. `__proto__` stays a plain property.
 *
 * @throws SlessError `invalid_request` for what JSON cannot hold
 */
export function copyJson<T>(value: T, depth = 0): T {
  if (depth > MAX_DEPTH)
    throw new SlessError("invalid_request", { cause: `it is nested more than ${MAX_DEPTH} levels deep` });
  if (Array.isArray(value)) return value.map((item) => copyJson(item, depth + 1)) as T;
  if (isMap(value)) {
    const entries = Object.entries(value).filter(([, item]) => item !== undefined);
    return Object.fromEntries(entries.map(([key, item]) => [key, copyJson(item, depth + 1)])) as T;
  }
  if (value === null || ["string", "boolean"].includes(typeof value) || Number.isFinite(value)) return value;
  throw new SlessError("invalid_request", { cause: `a ${typeof value} is no JSON value` });
}

/** Freezes what is not frozen yet; a frozen value is taken to be frozen all the way down. */
export function freezeDeep<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const item of Object.values(value)) freezeDeep(item);
  return Object.freeze(value);
}

export function sameJson(a: unknown, b: unknown): boolean {
  return a === b || isDeepStrictEqual(a, b);
}

/** The parts of an object that have owners. Finalizers are a set, as in Kubernetes: each item is a leaf. */
export function fieldsOf({ labels, annotations, finalizers, spec }: Writable): Map<string, unknown> {
  const fields = new Map<string, unknown>();
  addLeaves(fields, "metadata/labels", labels);
  addLeaves(fields, "metadata/annotations", annotations);
  for (const finalizer of finalizers ?? []) fields.set(`metadata/finalizers/${escaped(finalizer)}`, true);
  addLeaves(fields, "spec", spec);
  return fields;
}

function addLeaves(into: Map<string, unknown>, path: string, value: unknown): void {
  if (value === undefined) return;
  const entries = isMap(value) ? Object.entries(value) : [];
  if (entries.length === 0) into.set(path, value);
  for (const [key, item] of entries) addLeaves(into, `${path}/${escaped(key)}`, item);
}

/** The opposite of `fieldsOf`; empty labels, annotations and finalizers are left out. */
export function writableOf(fields: Fields): Writable {
  const root = new Map<string, unknown>();
  for (const [path, value] of fields) place(root, path.split("/").map(unescaped), value);
  const { metadata = {}, spec = {} } = plain(root) as { metadata?: Record<string, object>; spec?: unknown };
  const writable: Record<string, unknown> = { spec };
  for (const name of ["labels", "annotations"] as const)
    if (isMap(metadata[name]) && Object.keys(metadata[name]).length > 0) writable[name] = metadata[name];
  if (metadata.finalizers) writable.finalizers = Object.keys(metadata.finalizers);
  return writable;
}

function place(root: Map<string, unknown>, segments: readonly string[], value: unknown): void {
  const [first = "", ...rest] = segments;
  if (rest.length === 0) return void root.set(first, value);
  const below = root.get(first);
  const node = below instanceof Map ? below : new Map<string, unknown>();
  root.set(first, node);
  place(node, rest, value);
}

function plain(value: unknown): unknown {
  if (!(value instanceof Map)) return value;
  return Object.fromEntries([...value].map(([key, item]) => [key, plain(item)]));
}

/** Sets fields as a server-side apply does: maps merge by leaf, everything else replaces. */
export function overlaid(base: Fields, wanted: Fields): Map<string, unknown> {
  const result = new Map(base);
  for (const [path, value] of wanted) {
    if (isMap(value) && hasBelow(result.keys(), path)) continue;
    if (!result.has(path)) removeAround(result, path);
    result.set(path, value);
  }
  return result;
}

/** A path that gets a value is no longer below a scalar or empty map, nor above other leaves. */
function removeAround(fields: Map<string, unknown>, path: string): void {
  for (let above = parentOf(path); above !== undefined; above = parentOf(above)) fields.delete(above);
  for (const below of fields.keys()) if (isBelow(below, path)) fields.delete(below);
}

export function parentOf(path: string): string | undefined {
  const end = path.lastIndexOf("/");
  return end < 0 ? undefined : path.slice(0, end);
}

export function isBelow(path: string, above: string): boolean {
  return path.length > above.length && path.startsWith(above) && path[above.length] === "/";
}

function hasBelow(paths: Iterable<string>, above: string): boolean {
  for (const path of paths) if (isBelow(path, above)) return true;
  return false;
}

function escaped(segment: string): string {
  return segment.replaceAll("~", "~0").replaceAll("/", "~1");
}

function unescaped(segment: string): string {
  return segment.replaceAll("~1", "/").replaceAll("~0", "~");
}
