/**
 * Up to the last `@` of where a host stands: not everybody encodes the one in his password, and a `'` nobody has to. It
 * begins with the colon, for a scheme is as long as it likes: looked for at every place of a long line, it would hold up
 * everybody.
 */
const USER_INFO = /:\/\/[^\s/"]*@/g;

/** Text with `***` for the user and password of every address in it. */
export function redactUrls(text: string): string {
  return text.replaceAll(USER_INFO, "://***@");
}

/** A URL without user and password. */
export function withoutCredentials(url: string): string {
  return url.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/]*@/i, "$1");
}
