import type { Kind, ObjectOf } from "../../apis/index.ts";
import { SlessError } from "../../errors/index.ts";
import type { Page, PageOptions } from "../resource-store.ts";

/**
 * One page of a namespace's objects, which are sorted by name. Its token is the last name, so that pages follow names,
 * not positions.
 *
 * @throws SlessError `invalid_request` for a token that no page gave
 */
export function pageOf<K extends Kind>(
  objects: readonly ObjectOf<K>[],
  options: Omit<PageOptions, "namespace">,
): Page<K> {
  const after = options.continue === undefined ? "" : nameOf(options.continue);
  const start = objects.findIndex(({ metadata }) => metadata.name > after);
  const items = start < 0 ? [] : objects.slice(start, start + options.limit);
  const last = items.at(-1);
  const isLast = last === undefined || last === objects.at(-1);
  return { items, ...(isLast ? {} : { next: Buffer.from(last.metadata.name).toString("base64url") }) };
}

function nameOf(token: string): string {
  const name = Buffer.from(token, "base64url").toString();
  if (/^[a-z][-a-z0-9]*$/.test(name)) return name;
  throw new SlessError("invalid_request", { cause: "continue is no token of a page; leave it out to begin anew" });
}
