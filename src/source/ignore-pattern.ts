import { compileSegment, type SegmentMatcher } from "./glob-segment.ts";

/** One line of a `.slessignore`. */
export interface IgnorePattern {
  /** A `!` line: takes back what an earlier one ignored. */
  readonly isNegated: boolean;
  /** @param segments the path below the file's folder, split at slashes */
  matches(segments: readonly string[], isFolder: boolean): boolean;
}

/** Any number of folders: `**` between slashes. */
const ANY_FOLDERS = Symbol("**");
type Part = SegmentMatcher | typeof ANY_FOLDERS;

/** The patterns of a text in gitignore syntax, in their order. */
export function parseIgnoreText(text: string): IgnorePattern[] {
  return text
    .replace(/^\uFEFF/, "")
    .split("\n")
    .flatMap((line) => parseLine(line.replace(/\r$/, "")) ?? []);
}

function parseLine(line: string): IgnorePattern | undefined {
  if (line.startsWith("#")) return undefined;
  const isNegated = line.startsWith("!");
  const glob = trimSpaces(isNegated ? line.slice(1) : line);
  const isForFolders = glob.endsWith("/");
  const path = isForFolders ? glob.slice(0, -1) : glob;
  if (path === "") return undefined;
  // A slash before the end ties the pattern to the file's folder; without one it holds at any depth.
  if (!path.includes("/")) {
    const matchesName = compileSegment(path);
    return {
      isNegated,
      matches: (segments, isFolder) => (isFolder || !isForFolders) && matchesName(segments.at(-1)!),
    };
  }
  const parts = plainSlashes(path.replace(/^\//, "")).split("/").map(toPart);
  return { isNegated, matches: (segments, isFolder) => (isFolder || !isForFolders) && matchesPath(parts, segments) };
}

/** Spaces at the end count only when escaped. By hand: a pattern would look at each of many spaces anew. */
function trimSpaces(line: string): string {
  const end = endWithout(" ", line, line.length);
  const backslashes = end - endWithout("\\", line, end);
  return line.slice(0, backslashes % 2 === 1 ? end + 1 : end);
}

/** Where what ends at `end` begins to be nothing but this character. */
function endWithout(character: string, line: string, end: number): number {
  let at = end;
  while (at > 0 && line[at - 1] === character) at--;
  return at;
}

/** An escaped slash is one like any other, but that `**` before it needs at least one folder. */
function plainSlashes(path: string): string {
  return path.replaceAll(/(^|\/)\*{2,}\\\//g, "$1*/**/").replaceAll(/(?<!\\)((?:\\\\)*)\\\//g, "$1/");
}

function toPart(segment: string): Part {
  return /^\*{2,}$/.test(segment) ? ANY_FOLDERS : compileSegment(segment);
}

/** As `matches` of a segment does it with stars, with `**` over segments. At the end `**` needs at least one. */
function matchesPath(parts: readonly Part[], segments: readonly string[]): boolean {
  let at = 0;
  let next = 0;
  let folders = -1;
  let retryAt = 0;
  const last = parts.length - 1;
  while (at < segments.length) {
    const part = parts[next];
    if (part === ANY_FOLDERS) {
      if (next === last) return true;
      folders = next++;
      retryAt = at;
    } else if (part?.(segments[at]!)) {
      next++;
      at++;
    } else if (folders >= 0) {
      next = folders + 1;
      at = ++retryAt;
    } else return false;
  }
  return next === parts.length;
}
