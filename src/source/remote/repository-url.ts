import { SlessError } from "../../errors/index.ts";
import { shownRef } from "../ref-name.ts";

/**
 * The address of a remote repository, without its final slash.
 *
 * @throws SlessError `repository_url_invalid` for everything but http(s), and for an address with a credential or query
 */
export function parseRepositoryUrl(text: string): URL {
  const refuse = (cause: string) => new SlessError("repository_url_invalid", { url: shownUrl(text), cause });
  // A parser would mend these, and what is asked for were not what is written.
  if (/[\s\p{Cc}\\]/u.test(text)) throw refuse("it holds white space, a backslash or control characters");
  if (!/^https?:\/\//i.test(text)) throw refuse("only https:// and http:// addresses are followed");
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) throw refuse("its host or its port (1 to 65535) is none");
  if (url.username !== "" || url.password !== "")
    throw refuse("it holds a credential, which belongs into a secret that spec.secretRef names");
  if (url.search !== "" || url.hash !== "" || /[?#]$/.test(text)) throw refuse("it has a query or a fragment");
  url.pathname = url.pathname.replace(/\/+$/, "");
  return url;
}

/** An address as it may stand in a message: without credentials and query, bounded. */
export function shownUrl(text: string): string {
  const bare = text.replace(/^([a-z][a-z0-9+.-]*:\/\/)?[^/?#]*@/i, "$1").replace(/[?#].*$/s, "");
  return shownRef(bare);
}
