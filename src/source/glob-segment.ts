// Globs of one path segment, by the algorithm that goes back to the last star only: no pattern, however many stars a
// tenant writes, needs more than (pattern × name) steps. A regular expression would need exponentially many.

type Token =
  | { readonly kind: "star" }
  | { readonly kind: "any" }
  | { readonly kind: "one"; readonly is: (char: string) => boolean };

/** Whether a name matches. */
export type SegmentMatcher = (name: string) => boolean;

/** Compiles `*.py`, `a?c`, `[!a-c]`, `[[:digit:]]`, `\*`. A glob with an unclosed bracket or escape matches nothing. */
export function compileSegment(glob: string): SegmentMatcher {
  if (!/[*?[\\]/.test(glob)) return (name) => name === glob;
  const tokens = tokensOf(glob);
  return tokens === undefined ? () => false : (name) => matches(tokens, [...name]);
}

function matches(tokens: readonly Token[], name: readonly string[]): boolean {
  let at = 0;
  let next = 0;
  let star = -1;
  let retryAt = 0;
  while (at < name.length) {
    const token = tokens[next];
    if (token?.kind === "star") {
      star = next++;
      retryAt = at;
    } else if (token !== undefined && (token.kind === "any" || token.is(name[at]!))) {
      next++;
      at++;
    } else if (star >= 0) {
      next = star + 1;
      at = ++retryAt;
    } else return false;
  }
  while (tokens[next]?.kind === "star") next++;
  return next === tokens.length;
}

function tokensOf(glob: string): Token[] | undefined {
  const chars = [...glob];
  const tokens: Token[] = [];
  for (let at = 0; at < chars.length; at++) {
    const char = chars[at]!;
    if (char === "*") tokens.push({ kind: "star" });
    else if (char === "?") tokens.push({ kind: "any" });
    else if (char === "[") {
      const bracket = bracketAt(chars, at);
      if (bracket === undefined) return undefined;
      tokens.push({ kind: "one", is: bracket.is });
      at = bracket.end;
    } else {
      const literal = char === "\\" ? chars[++at] : char;
      if (literal === undefined) return undefined;
      tokens.push({ kind: "one", is: (other) => other === literal });
    }
  }
  return tokens;
}

const CLASSES: Readonly<Record<string, RegExp>> = {
  alnum: /[A-Za-z0-9]/,
  alpha: /[A-Za-z]/,
  blank: /[ \t]/,
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is the class
  cntrl: /[\x00-\x1f\x7f]/,
  digit: /[0-9]/,
  graph: /[\x21-\x7e]/,
  lower: /[a-z]/,
  print: /[\x20-\x7e]/,
  punct: /[!-/:-@[-`{-~]/,
  space: /[\t-\r ]/,
  upper: /[A-Z]/,
  xdigit: /[0-9A-Fa-f]/,
};

/** The set that begins at `[`, and where its `]` stands. A `]` at the first place is a member. */
function bracketAt(chars: readonly string[], start: number) {
  let at = start + 1;
  const isNegated = chars[at] === "!" || chars[at] === "^";
  if (isNegated) at++;
  const members: ((char: string) => boolean)[] = [];
  for (let isFirst = true; isFirst || chars[at] !== "]"; isFirst = false) {
    const named = chars[at] === "[" && chars[at + 1] === ":" ? chars.indexOf("]", at + 2) : -1;
    if (named > 0) {
      const known = chars[named - 1] === ":" ? CLASSES[chars.slice(at + 2, named - 1).join("")] : undefined;
      if (known === undefined) return undefined;
      members.push((char) => known.test(char));
      at = named + 1;
      continue;
    }
    const low = memberAt(chars, at);
    if (low === undefined) return undefined;
    at = low.next;
    const isRange = chars[at] === "-" && chars[at + 1] !== "]" && chars[at + 1] !== undefined;
    const high = isRange ? memberAt(chars, at + 1) : low;
    if (high === undefined) return undefined;
    at = high.next;
    members.push((char) => char >= low.char && char <= high.char);
  }
  return { end: at, is: (char: string) => members.some((member) => member(char)) !== isNegated };
}

function memberAt(chars: readonly string[], at: number) {
  const escaped = chars[at] === "\\";
  const char = chars[escaped ? at + 1 : at];
  return char === undefined ? undefined : { char, next: at + (escaped ? 2 : 1) };
}
