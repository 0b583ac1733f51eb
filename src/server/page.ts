import { SlessError } from "../errors/index.ts";

export const PAGE_LIMIT_MAX = 1_000;
const PAGE_LIMIT_DEFAULT = 500;

/** Specs of a page, as JSON: events and variables may be large. */
const PAGE_MAX_BYTES = 4 << 20;

interface Listed {
  readonly metadata: { readonly name: string };
  readonly spec?: unknown;
}

/**
 * One page of objects sorted by name, of at most `limit`, and of few when they are large. `next` is a token for the page after it, undefined on the last one. Pages
 * follow names, not positions: what is created or deleted between two of them neither repeats nor hides others.
 *
 * @throws SlessError `invalid_request` for a token that no page gave
 */
export function pageOf<T extends Listed>(
  objects: readonly T[],
  { limit = PAGE_LIMIT_DEFAULT, token }: { limit?: number | undefined; token?: string | undefined },
): { items: T[]; next: string | undefined } {
  const after = token === undefined ? "" : nameOf(token);
  const rest = objects.filter(({ metadata }) => metadata.name > after);
  const items = rest.slice(0, Math.min(limit, fitting(rest)));
  const last = items.at(-1);
  return {
    items,
    next: last && rest.length > items.length ? Buffer.from(last.metadata.name).toString("base64url") : undefined,
  };
}

/** How many of the first objects fit into a page; always one. */
function fitting(objects: readonly Listed[]): number {
  let bytes = 0;
  for (const [index, { spec = {} }] of objects.entries()) {
    bytes += JSON.stringify(spec).length;
    if (bytes > PAGE_MAX_BYTES) return Math.max(1, index);
  }
  return objects.length;
}

function nameOf(token: string): string {
  const name = Buffer.from(token, "base64url").toString();
  if (/^[a-z][-a-z0-9]*$/.test(name)) return name;
  throw new SlessError("invalid_request", { cause: "continue is no token of a page; leave it out to begin anew" });
}
