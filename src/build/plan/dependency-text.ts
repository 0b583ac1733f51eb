/** Text of a dependency file, by its byte order mark; without one it is UTF-8. What is no text becomes U+FFFD. */
export function decodeText(content: Uint8Array): string {
  return new TextDecoder(encodingOf(content)).decode(content);
}

function encodingOf([first, second]: Uint8Array): string {
  if (first === 0xff && second === 0xfe) return "utf-16le";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  return "utf-8";
}

/** Where a text cannot be read; line and column start at 1. */
export interface TextFault {
  readonly line: number;
  readonly column: number;
  /** `it is no JSON: unexpected "x"`. */
  readonly cause: string;
}

/**
 * Why what installs dependencies cannot read one of their files; undefined when it can, as far as its form tells. Files
 * whose content decides nothing are not looked into.
 *
 * @param name `package.json`
 */
export function dependencyFault(name: string, content: Uint8Array): TextFault | undefined {
  if (name === "package.json") return packageFault(content);
  if (name === "requirements.txt" || name === "constraints.txt") return requirementsFault(content);
  return undefined;
}

function requirementsFault(content: Uint8Array): TextFault | undefined {
  const at = decodeText(content).indexOf("\uFFFD");
  if (at < 0 || Buffer.from(content).includes("\uFFFD") || declaresEncoding(Buffer.from(content).toString("latin1")))
    return undefined;
  return { ...placeAt(decodeText(content), at), cause: "it is no UTF-8 text" };
}

/** As Python does it, in a comment of one of its first two lines. */
function declaresEncoding(text: string): boolean {
  const comments = text.split("\n", 2).flatMap((line) => (line.includes("#") ? line.slice(line.indexOf("#")) : []));
  return comments.some((comment) => /coding[:=]\s*[-\w.]/.test(comment));
}

/** A string's first quote stands for all of it. */
const TOKEN = /[ \t\r\n]*(?:([{}[\],:])|(")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null))/y;

/** A run of characters, an escape, or the end; one pattern for a whole string would need a stack as long as it. */
const PART_OF_STRING =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a string of JSON has none
  /[^"\\\u0000-\u001f]+|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})|(")/y;

/** npm and Node read it as UTF-8 whatever it begins with, and want an object; an array is one to them. */
function packageFault(content: Uint8Array): TextFault | undefined {
  if (encodingOf(content) !== "utf-8") return { line: 1, column: 1, cause: "it is UTF-16; save it as UTF-8" };
  return jsonFault(decodeText(content));
}

function jsonFault(text: string): TextFault | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return value !== null && typeof value === "object"
      ? undefined
      : { ...placeAt(text, text.search(/\S/)), cause: "it is no object: write for example {}" };
  } catch {
    const at = firstUnexpected(text);
    const found =
      at < text.length ? `unexpected ${JSON.stringify([...text.slice(at, at + 2)][0])}` : "it ends too early";
    return { ...placeAt(text, at), cause: `it is no JSON: ${found}` };
  }
}

/** Index of what cannot stand where it stands in a JSON text; its length when more was to come. */
function firstUnexpected(text: string): number {
  const open: string[] = [];
  let expected = "v";
  for (let end: number | undefined = 0; ; ) {
    const space = /[ \t\r\n]*/y;
    space.lastIndex = end;
    const at = end + space.exec(text)![0].length;
    TOKEN.lastIndex = end;
    const match = TOKEN.exec(text);
    end = match?.[2] === undefined ? TOKEN.lastIndex : endOfString(text, TOKEN.lastIndex);
    const token = match && (match[1] ?? (match[2] === undefined ? "v" : "s"));
    const next = token && end !== undefined ? after(token, expected, open) : undefined;
    if (end === undefined || next === undefined) return at;
    expected = next;
  }
}

/** Where a string ends whose first quote stands before `from`; undefined when it does not. */
function endOfString(text: string, from: number): number | undefined {
  PART_OF_STRING.lastIndex = from;
  for (;;) {
    const part = PART_OF_STRING.exec(text);
    if (!part) return undefined;
    if (part[1] !== undefined) return PART_OF_STRING.lastIndex;
  }
}

/**
 * What may follow a token, as letters: `v`alue, `s`tring (of a name), `:`, `,`, `}` and `]`; undefined when the token may
 * not stand there. `open` holds the brackets that are open.
 */
function after(token: string, expected: string, open: string[]): string | undefined {
  const isValue = expected.includes("v") && "vs{[".includes(token);
  if (!isValue && !expected.includes(token)) return undefined;
  if (token === "{") return push(open, "{", "s}");
  if (token === "[") return push(open, "[", "v]");
  if (token === ":") return "v";
  if (token === ",") return open.at(-1) === "{" ? "s" : "v";
  if (token === "s" && !isValue) return ":";
  if (token === "}" || token === "]") open.pop();
  if (open.length === 0) return "";
  return open.at(-1) === "{" ? ",}" : ",]";
}

function push(open: string[], bracket: string, next: string): string {
  open.push(bracket);
  return next;
}

function placeAt(text: string, at: number): { line: number; column: number } {
  const before = text.slice(0, at).split(/\r\n|\r|\n/);
  return { line: before.length, column: [...before.at(-1)!].length + 1 };
}
