const NAME_MAX_LENGTH = 1000;

/** Control characters, space and what Git's revision syntax needs for itself. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
const FORBIDDEN = /[\x00-\x20\x7f~^:?*[\\]|\.\.|@\{|\/\/|^\/|\/$|\.$|^@$/;

/**
 * Whether Git itself would allow this ref name (`git check-ref-format`), so that it can name no file outside `refs/`
 * and holds no revision syntax.
 */
export function isRefName(name: string): boolean {
  if (name.length === 0 || name.length > NAME_MAX_LENGTH || FORBIDDEN.test(name)) return false;
  return name.split("/").every((part) => !part.startsWith(".") && !part.endsWith(".lock"));
}

/** An id as this port writes it: lower-case hex of sha1 or sha256. */
export function isObjectId(text: string): boolean {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text);
}

/** A ref as it may stand in a message: bounded, control and formatting characters escaped. */
export function shownRef(name: string): string {
  const short = name.length > 120 ? `${name.slice(0, 120)}…` : name;
  return short.replace(/[\p{Cc}\p{Cf}]/gu, (char) => `\\u{${char.codePointAt(0)!.toString(16)}}`);
}
