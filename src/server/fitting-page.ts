import type { Kind, ObjectOf } from "../apis/index.ts";
import type { Page, PageOptions, ResourceStore } from "../resources/index.ts";

/** Specs of a page, as JSON: events and variables may be large. */
const PAGE_MAX_BYTES = 4 << 20;

/**
 * A page of the store, with few objects when they are large.
 *
 * @throws SlessError `invalid_request` for a `continue` that no page gave
 */
export async function fittingPage<K extends Kind>(
  store: Pick<ResourceStore, "page">,
  kind: K,
  options: PageOptions,
): Promise<Page<K>> {
  const page = await store.page(kind, options);
  const limit = fitting(page.items);
  // Only the store knows where a shorter page goes on.
  return limit < page.items.length ? store.page(kind, { ...options, limit }) : page;
}

/** How many of the first objects fit into a page; always one. */
function fitting(objects: readonly ObjectOf<Kind>[]): number {
  let bytes = 0;
  for (const [index, { spec }] of objects.entries()) {
    bytes += JSON.stringify(spec).length;
    if (bytes > PAGE_MAX_BYTES) return Math.max(1, index);
  }
  return objects.length;
}
