import type { Dispatcher } from "undici";

const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

/** Where an answer redirects to, or why that is not followed; undefined when it is no redirect. */
export function redirectTarget(
  { statusCode, headers }: Pick<Dispatcher.ResponseData, "statusCode" | "headers">,
  from: URL,
): { readonly target: URL } | { readonly cause: string } | undefined {
  if (!REDIRECTS.includes(statusCode)) return undefined;
  const location = String(headers.location ?? "");
  const target = URL.canParse(location, from) ? new URL(location, from) : undefined;
  if (location === "" || target === undefined) return { cause: `it answered ${statusCode} without an address` };
  if (target.protocol !== "https:" && target.protocol !== "http:")
    return { cause: "it redirects to what is no http(s) address" };
  if (from.protocol === "https:" && target.protocol === "http:")
    return { cause: "it redirects from https to http, which anybody can read" };
  if (target.username !== "" || target.password !== "")
    return { cause: "it redirects to an address with a credential" };
  // A page to sign in, most likely.
  if (!target.pathname.endsWith("/info/refs") || target.search !== from.search)
    return { cause: "it redirects to a page that is no Git repository" };
  target.hash = "";
  return { target };
}
