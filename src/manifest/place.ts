import { isMap, isScalar, isSeq } from "yaml";
import type { Position } from "./manifest.ts";
import type { Path } from "./read-value.ts";

/** Turns offsets into lines and columns; lines are only counted when the first place is asked for. */
export function placesIn(text: string): (offset: number) => Position {
  let starts: number[] | undefined;
  return (offset) => {
    starts ??= lineStarts(text);
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (starts[middle]! <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - starts[low]! + 1 };
  };
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", end + 1)) starts.push(end + 1);
  return starts;
}

/** Offset of a field in a node: of its key, of a list's item, or of the nearest enclosing one that stands there. */
export function offsetAt(root: unknown, path: Path, start = 0): number {
  let node = root;
  let offset = rangeStart(root) ?? start;
  for (const part of path) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && key.value === String(part));
      if (!pair) return offset;
      offset = rangeStart(pair.key) ?? offset;
      node = pair.value;
    } else if (isSeq(node)) {
      node = node.items[Number(part)];
      offset = rangeStart(node) ?? offset;
    } else return offset;
  }
  return offset;
}

function rangeStart(node: unknown): number | undefined {
  return (node as { range?: readonly number[] | null } | null | undefined)?.range?.[0];
}

/** The text of the plain scalar at a path, when there is one. */
export function plainTextAt(root: unknown, path: Path): string | undefined {
  let node = root;
  for (const part of path) {
    if (isMap(node)) node = node.items.find(({ key }) => isScalar(key) && key.value === String(part))?.value;
    else if (isSeq(node)) node = node.items[Number(part)];
    else return undefined;
  }
  return isScalar(node) && node.type === "PLAIN" && typeof node.value === "string" ? node.value : undefined;
}
