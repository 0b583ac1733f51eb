import { isDeepStrictEqual } from "node:util";
import type { ApiObject } from "../kubernetes/index.ts";
import { parseQuantity } from "./parse-quantity.ts";
import type { Wanted } from "./wanted-objects.ts";

/** Fields whose values the API server writes in another way, `1000m` as `1`. */
const QUANTITIES = new Set(["hard", "default", "defaultRequest", "max", "min", "maxLimitRequestRatio"]);

/**
 * A live object is what is wanted of it. What it has beyond is left to others; only where nothing is wanted in a map (a
 * selector of everything) nothing may be there, and lists are as long as wanted. Pure.
 */
export function isAsWanted({ object }: Wanted, live: ApiObject | undefined): boolean {
  if (!live) return false;
  const { metadata, apiVersion: _, kind: __, ...fields } = object;
  const { labels = {}, annotations = {} } = metadata;
  const present = live as ApiObject & Record<string, unknown>;
  return (
    holds(labels, present.metadata.labels ?? {}, false) &&
    holds(annotations, present.metadata.annotations ?? {}, false) &&
    Object.entries(fields).every(([name, value]) => holds(value, present[name], false))
  );
}

function holds(wanted: unknown, live: unknown, isQuantity: boolean): boolean {
  if (Array.isArray(wanted)) {
    if (!Array.isArray(live) || live.length !== wanted.length) return false;
    return wanted.every((item, index) => holds(item, live[index], isQuantity));
  }
  if (isMap(wanted)) {
    if (!isMap(live)) return false;
    const entries = Object.entries(wanted);
    if (entries.length === 0) return Object.keys(live).length === 0;
    return entries.every(([name, value]) => holds(value, live[name], isQuantity || QUANTITIES.has(name)));
  }
  return isDeepStrictEqual(wanted, live) || (isQuantity && isSameQuantity(wanted, live));
}

function isSameQuantity(a: unknown, b: unknown): boolean {
  const quantity = parseQuantity(a);
  return quantity !== undefined && quantity === parseQuantity(b);
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
