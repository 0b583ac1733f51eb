import { renderKey, renderScalar, type ScalarPlace } from "./render-scalar.ts";

/** Values of a manifest: JSON without lists. */
export type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Columns between a map and a map in it, where a file does not show its own. */
export const INDENT_STEP = 2;

export interface BlockPlace {
  /** Spaces before each key. */
  readonly indent: string;
  readonly step: number;
  readonly eol: string;
}

/** `key: value` in lines of their own, each with its end. */
export function renderPair(key: string, value: unknown, place: BlockPlace): string {
  const { indent, step, eol } = place;
  const head = `${indent}${renderKey(key, false)}:`;
  const inner = indent + " ".repeat(step);
  if (isFields(value) && Object.keys(value).length > 0)
    return `${head}${eol}${renderPairs(value, { ...place, indent: inner })}`;
  const text = renderInline(value, { inFlow: false, indent: inner, eol });
  return text.endsWith(eol) ? `${head} ${text}` : `${head} ${text}${eol}`;
}

export function renderPairs(fields: Fields, place: BlockPlace): string {
  return Object.entries(fields)
    .map(([key, value]) => renderPair(key, value, place))
    .join("");
}

/** A value on the line where it stands: a scalar, or a flow map. */
export function renderInline(value: unknown, place: ScalarPlace, isJson = false): string {
  if (!isFields(value)) return renderScalar(value, isJson ? { ...place, style: "double" } : place);
  return `{${renderFlowPairs(value, isJson)}}`;
}

/** `key: value, key: value`, what stands between the braces of a flow map. */
export function renderFlowPairs(fields: Fields, isJson: boolean): string {
  const place: ScalarPlace = { inFlow: true, indent: "", eol: "\n" };
  return Object.entries(fields)
    .map(([key, value]) => `${renderKey(key, isJson)}: ${renderInline(value, place, isJson)}`)
    .join(", ");
}
