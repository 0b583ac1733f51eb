/** Text without the credentials that addresses in it carry. */
export function redactUrls(text: string): string {
  return text.replaceAll(/\b([a-z][a-z0-9+.-]*:\/\/)[^\s/@'"]+@/gi, "$1***@");
}
