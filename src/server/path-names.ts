import { SlessError } from "../errors/index.ts";

/** What a proxy, a URL or a file system reads as more than a name: `..` would lead to another place, "" to all of them. */
const NO_NAME = /^\.{0,2}$|[/\\%?#]|\p{Cc}/u;

/**
 * Refuses names in a path that name nothing anywhere, before anybody makes a path of another server of them.
 *
 * @param params of a route's path, decoded
 * @throws SlessError `not_found`
 */
export function refuseNoNames(params: Readonly<Record<string, unknown>>): void {
  for (const value of Object.values(params))
    if (typeof value !== "string" || NO_NAME.test(value))
      throw new SlessError("not_found", { what: `Anything named ${JSON.stringify(value).slice(0, 100)}` });
}
