import { isDeepStrictEqual } from "node:util";
import { isAlias, isMap, isScalar, type Pair, type Scalar, type YAMLMap } from "yaml";
import {
  type Fields,
  INDENT_STEP,
  isFields,
  renderFlowPairs,
  renderInline,
  renderPair,
  renderPairs,
} from "./render-map.ts";
import type { ScalarStyle } from "./render-scalar.ts";
import { lineStart, nextLine, type Splice } from "./splice.ts";

export interface EditedText {
  readonly text: string;
  readonly eol: string;
}

/**
 * What makes a map of a document say `wanted`: only the pairs that differ are touched. undefined when the map must be
 * written anew for that, as when a merge key brings in what is to go.
 *
 * @param present what the map says, aliases and merge keys resolved
 */
export function mapSplices(map: YAMLMap, present: Fields, wanted: Fields, edited: EditedText): Splice[] | undefined {
  const splices: Splice[] = [];
  const added: Record<string, unknown> = {};
  const dropped = new Set<Pair>();
  for (const [key, value] of Object.entries(present)) {
    const pair = pairOf(map, key);
    if (Object.hasOwn(wanted, key) && isDeepStrictEqual(value, wanted[key])) continue;
    if (!Object.hasOwn(wanted, key)) {
      if (!pair) return undefined;
      dropped.add(pair);
    } else if (pair) splices.push(...valueSplices(pair, value, wanted[key], map, edited));
    else added[key] = wanted[key];
  }
  for (const [key, value] of Object.entries(wanted)) if (!Object.hasOwn(present, key)) added[key] = value;
  const own = map.flow ? flowSplices(map, dropped, added) : blockSplices(map, dropped, added, edited);
  return own && [...splices, ...own];
}

function pairOf(map: YAMLMap, key: string): Pair | undefined {
  return map.items.find((pair) => isScalar(pair.key) && pair.key.value === key);
}

/** Changes the value of a pair. */
function valueSplices(pair: Pair, present: unknown, wanted: unknown, map: YAMLMap, edited: EditedText): Splice[] {
  const node = pair.value;
  const isInner = isMap(node) && isFields(wanted) && isFields(present);
  if (isInner && Object.keys(wanted).length > 0 && Object.keys(present).length > 0) {
    return mapSplices(node, present, wanted, edited) ?? [rewritten(node, wanted, edited)];
  }
  if (isMap(node) && !node.flow && isFields(wanted)) return emptied(pair, node, edited);
  const [start, end] = (node as { range: [number, number, number] }).range;
  return [{ start, end, text: inlineText(node, wanted, map, edited), ...(isAlias(node) && { ofAlias: true }) }];
}

function inlineText(node: unknown, wanted: unknown, map: YAMLMap, { eol, text }: EditedText): string {
  const indent = map.flow ? "" : `${indentOf(map, text)}${" ".repeat(stepOf(map, text))}`;
  const place = { inFlow: map.flow === true, indent, eol, style: styleOf(node) };
  const inline = renderInline(wanted, place, map.flow === true && isJson(map));
  const wasEnded = isScalar(node) && text.slice(0, node.range![1]).endsWith("\n");
  if (inline.endsWith(eol)) return wasEnded ? inline : inline.slice(0, -eol.length);
  return wasEnded ? inline + eol : inline;
}

const STYLES: Readonly<Record<string, ScalarStyle>> = {
  QUOTE_DOUBLE: "double",
  QUOTE_SINGLE: "single",
  BLOCK_LITERAL: "block",
  BLOCK_FOLDED: "folded",
};

function styleOf(node: unknown): ScalarStyle | undefined {
  return isScalar(node) ? STYLES[node.type ?? ""] : undefined;
}

/** The whole map written anew, at its place. */
function rewritten(map: YAMLMap, wanted: Fields, { text, eol }: EditedText): Splice {
  const start = startOf(map);
  const end = endOf(map);
  if (map.flow) return { start: map.range![0], end: map.range![1], text: `{${renderFlowPairs(wanted, isJson(map))}}` };
  const indent = indentOf(map, text);
  const lines = renderPairs(wanted, { indent, step: stepOf(map, text), eol });
  const isEnded = text[end - 1] === "\n";
  return { start, end, text: lines.slice(indent.length, isEnded ? undefined : -eol.length) };
}

/** A block map becomes `{}` behind its key. */
function emptied(pair: Pair, map: YAMLMap, { text }: EditedText): Splice[] {
  const colon = text.indexOf(":", (pair.key as Scalar).range![1]) + 1;
  return [{ start: colon, end: colon, text: " {}" }, lineRemoval(text, startOf(map), endOf(map))];
}

function flowSplices(map: YAMLMap, dropped: ReadonlySet<Pair>, added: Fields): Splice[] {
  const splices: Splice[] = [];
  let isKeptBefore = false;
  for (const [index, pair] of map.items.entries()) {
    if (!dropped.has(pair)) {
      isKeptBefore = true;
      continue;
    }
    const [before, next] = [map.items[index - 1], map.items[index + 1]];
    const start = isKeptBefore && before ? pairEnd(before) : pairStart(pair);
    splices.push({ start, end: !isKeptBefore && next ? pairStart(next) : pairEnd(pair), text: "" });
  }
  if (Object.keys(added).length === 0) return splices;
  const at = pairEnd(map.items.at(-1)!);
  return [
    ...splices,
    { start: at, end: at, text: `${isKeptBefore ? ", " : ""}${renderFlowPairs(added, isJson(map))}` },
  ];
}

function blockSplices(
  map: YAMLMap,
  dropped: ReadonlySet<Pair>,
  added: Fields,
  { text, eol }: EditedText,
): Splice[] | undefined {
  const starts = [...dropped].map(pairStart);
  // An explicit key (`? key`) or a map behind a dash does not have its line for itself.
  if (starts.some((start) => text.slice(lineStart(text, start), start).trim() !== "")) return undefined;
  const splices = [...dropped].map((pair) => lineRemoval(text, pairStart(pair), pairEnd(pair)));
  if (Object.keys(added).length === 0) return splices;
  const indent = indentOf(map, text);
  const place = { indent, step: stepOf(map, text), eol };
  const at = afterComments(text, nextLine(text, endOf(map)), indent.length);
  const lines = Object.entries(added).map(([key, value]) => renderPair(key, value, place));
  const isEnded = at === 0 || text[at - 1] === "\n";
  const joined = isEnded ? lines.join("") : eol + lines.join("").slice(0, -eol.length);
  return [...splices, { start: at, end: at, text: joined }];
}

/** Takes away the lines of what stands from `start` to `end`; a text without a final line end stays without one. */
function lineRemoval(text: string, start: number, end: number): Splice {
  const from = lineStart(text, start);
  const to = nextLine(text, end);
  if (to < text.length || text.endsWith("\n") || from === 0) return { start: from, end: to, text: "" };
  return { start: from - (text[from - 2] === "\r" ? 2 : 1), end: to, text: "" };
}

/** The offset behind comments that stand no less deep than a map's keys: they belong to it, or to what is in it. */
function afterComments(text: string, offset: number, depth: number): number {
  let at = offset;
  while (at < text.length) {
    const next = nextLine(text, at + 1);
    const comment = /^( *)#/.exec(text.slice(at, next));
    if (!comment || comment[1]!.length < depth) return at;
    at = next;
  }
  return at;
}

function pairStart(pair: Pair): number {
  return (pair.key as Scalar).range![0];
}

function pairEnd(pair: Pair): number {
  const { value, key } = pair;
  if (isMap(value) || isScalar(value) || isAlias(value)) return endOf(value);
  return (key as Scalar).range![1];
}

function startOf(map: YAMLMap): number {
  return map.flow || map.items.length === 0 ? map.range![0] : pairStart(map.items[0]!);
}

/** Where the last value of a node ends, without the comments behind it. */
function endOf(node: unknown): number {
  if (isMap(node) && !node.flow && node.items.length > 0) return pairEnd(node.items.at(-1)!);
  return (node as { range: [number, number, number] }).range[1];
}

function indentOf(map: YAMLMap, text: string): string {
  const start = startOf(map);
  return " ".repeat(start - lineStart(text, start));
}

/** How much deeper a map in this one stands. */
function stepOf(map: YAMLMap, text: string): number {
  for (const { value } of map.items) {
    if (!isMap(value) || value.flow || value.items.length === 0) continue;
    return Math.max(1, indentOf(value, text).length - indentOf(map, text).length);
  }
  return INDENT_STEP;
}

function isJson(map: YAMLMap): boolean {
  return map.items.some(({ key }) => isScalar(key) && key.type === "QUOTE_DOUBLE");
}
