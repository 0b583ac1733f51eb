/**
 * A live object has every value that the manifest wants; what the API server filled in beside them does not count.
 * Lists are equal in length and order: what Kubernetes adds stands in fields of its own.
 */
export function liveMatches(wanted: unknown, live: unknown): boolean {
  if (wanted === undefined) return true;
  if (Array.isArray(wanted)) {
    return (
      Array.isArray(live) && live.length === wanted.length && wanted.every((item, at) => liveMatches(item, live[at]))
    );
  }
  if (wanted === null || typeof wanted !== "object") return wanted === live;
  if (live === null || typeof live !== "object") return isEmpty(wanted);
  return Object.entries(wanted).every(([key, value]) => liveMatches(value, (live as Record<string, unknown>)[key]));
}

/** An empty map may be left out. */
function isEmpty(value: object): boolean {
  return Object.keys(value).length === 0;
}
