import { type Alias, isAlias, isMap, isScalar, isSeq, type Pair, type Scalar, type YAMLMap, type YAMLSeq } from "yaml";
import { ambiguityOf, plainValue } from "./plain-scalar.ts";

/** Values that aliases may multiply a document to, and how deep it may nest; manifests have some dozens and five. */
const VALUES_MAX = 20_000;
const DEPTH_MAX = 64;

export type Path = readonly (string | number)[];

/** A fault of a YAML document that its grammar allows. */
export interface ValueFault {
  readonly kind: "syntax" | "ambiguous";
  readonly path: Path;
  /** Offset in the text. */
  readonly offset: number;
  readonly message: string;
  /** Of an ambiguous plain scalar: as it stands there, and whether it is a key. */
  readonly text?: string;
  readonly isKey?: boolean;
}

export interface ReadValue {
  readonly value: unknown;
  readonly faults: readonly ValueFault[];
}

/**
 * The JSON value of a YAML node in YAML 1.2's core schema, with merge keys (`<<`). Faults: duplicate keys, keys that are
 * no text, aliases without anchor, plain scalars that other tools read otherwise, and documents that grow beyond
 * bounds. Aliased values are shared, not copied: they must not be changed.
 */
export function readValue(node: unknown): ReadValue {
  const reading: Reading = { path: [], faults: [], count: 0, anchors: undefined, isOver: false };
  return { value: toValue(node, reading), faults: reading.faults };
}

interface Reading {
  readonly path: (string | number)[];
  readonly faults: ValueFault[];
  /** Values so far, aliased ones as often as they stand there. */
  count: number;
  anchors: Map<string, { value: unknown; count: number }> | undefined;
  isOver: boolean;
}

function toValue(node: unknown, reading: Reading): unknown {
  const before = reading.count;
  reading.count += 1;
  if (isAlias(node)) return aliasValue(node, reading);
  if (isOverBounds(node, reading)) return null;
  let value: unknown = null;
  if (isScalar(node)) value = scalarValue(node, reading);
  else if (isMap(node)) value = mapValue(node, reading);
  else if (isSeq(node)) value = sequenceValue(node, reading);
  const anchor = (node as { anchor?: string } | null)?.anchor;
  if (anchor) {
    reading.anchors ??= new Map();
    reading.anchors.set(anchor, { value, count: reading.count - before });
  }
  return value;
}

function isOverBounds(node: unknown, reading: Reading): boolean {
  if (reading.isOver) return true;
  if (reading.count <= VALUES_MAX && reading.path.length <= DEPTH_MAX) return false;
  reading.isOver = true;
  const message =
    reading.count > VALUES_MAX
      ? `the document has more than ${VALUES_MAX} values, aliases counted as often as they are used; write less`
      : `it nests deeper than ${DEPTH_MAX} levels; manifests have about five`;
  addFault(reading, "syntax", node, message);
  return true;
}

function addFault(
  reading: Reading,
  kind: ValueFault["kind"],
  node: unknown,
  message: string,
  more?: { text: string; isKey: boolean },
): void {
  reading.faults.push({ kind, path: [...reading.path], offset: offsetOf(node), message, ...more });
}

function offsetOf(node: unknown): number {
  return (node as { range?: readonly number[] | null } | null)?.range?.[0] ?? 0;
}

function aliasValue(alias: Alias, reading: Reading): unknown {
  const anchored = reading.anchors?.get(alias.source);
  if (anchored) {
    reading.count += anchored.count;
    return isOverBounds(alias, reading) ? null : anchored.value;
  }
  addFault(reading, "syntax", alias, `no anchor &${alias.source} stands before the alias *${alias.source}; add it`);
  return null;
}

function scalarValue(scalar: Scalar, reading: Reading): unknown {
  const text = scalar.value;
  if (scalar.type === "QUOTE_DOUBLE" && typeof text === "string" && (text.includes("\0") || !text.isWellFormed()))
    addFault(reading, "syntax", scalar, "holds \\0 or half a surrogate pair, which no program can be given; remove it");
  if (typeof text !== "string") return text;
  if (scalar.type !== "PLAIN" || scalar.tag) return apart(text);
  const why = ambiguityOf(text);
  if (why) addFault(reading, "ambiguous", scalar, why, { text, isKey: false });
  const value = plainValue(text);
  return typeof value === "string" ? apart(value) : value;
}

/** V8 keeps a longer piece of a text as a view of it, and with the piece the whole text; shorter ones it copies. */
const VIEW_MIN_LENGTH = 13;

/** An equal text that keeps nothing else alive: values outlive the files that they were read from. */
function apart(text: string): string {
  return text.length < VIEW_MIN_LENGTH ? text : (JSON.parse(JSON.stringify(text)) as string);
}

function sequenceValue(sequence: YAMLSeq, reading: Reading): unknown[] {
  return sequence.items.map((item, index) => {
    reading.path.push(index);
    const value = toValue(item, reading);
    reading.path.pop();
    return value;
  });
}

function mapValue(map: YAMLMap, reading: Reading): Record<string, unknown> {
  const value: Record<string, unknown> = {};
  let merged: { pair: Pair; from: unknown }[] | undefined;
  for (const pair of map.items) {
    const key = keyOf(pair.key, reading);
    if (key === undefined) continue;
    reading.path.push(key);
    if (Object.hasOwn(value, key))
      addFault(reading, "syntax", pair.key, "the key stands there twice; remove one of them");
    const inner = toValue(pair.value, reading);
    reading.path.pop();
    if (key === "<<" && isPlain(pair.key)) {
      merged ??= [];
      merged.push({ pair, from: inner });
    } else setOwn(value, key, inner);
  }
  for (const { pair, from } of merged ?? []) mergeInto(value, from, pair, reading);
  return value;
}

/** Like assignment, but `__proto__` is a key as any other. */
function setOwn(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === "__proto__")
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  else target[key] = value;
}

function isPlain(node: unknown): boolean {
  return isScalar(node) && node.type === "PLAIN";
}

function keyOf(node: unknown, reading: Reading): string | undefined {
  if (!isScalar(node) || typeof node.value !== "string") {
    addFault(reading, "syntax", node, "a key must be a text; write it in quotes");
    return undefined;
  }
  if (node.type === "PLAIN") {
    const text = node.value;
    const why = ambiguityOf(text) ?? (typeof plainValue(text) === "string" ? undefined : "a key that is no text");
    if (why) addFault(reading, "ambiguous", node, why, { text, isKey: true });
  }
  return node.value;
}

/** Merge keys: what stands in the map itself wins, then the earlier one of several. */
function mergeInto(target: Record<string, unknown>, from: unknown, pair: Pair, reading: Reading): void {
  for (const source of Array.isArray(from) ? from : [from]) {
    if (typeof source !== "object" || source === null || Array.isArray(source)) {
      addFault(reading, "syntax", pair.key, "<< wants the alias of a map, or a list of them");
      return;
    }
    for (const [key, value] of Object.entries(source)) if (!Object.hasOwn(target, key)) setOwn(target, key, value);
  }
}
