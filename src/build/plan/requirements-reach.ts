import { redactUrls } from "../../errors/index.ts";

const OPTION = /^(-e|--editable|-r|--requirement|-c|--constraint|-f|--find-links)(?:[\s=]+|(?<=^-[erfc]))(.*)$/;
const ADDRESS = /^(?:[a-z][a-z0-9+.-]*:\/\/|git\+|hg\+|svn\+|bzr\+)/i;
const ARCHIVE = /\.(?:whl|zip|tar|tgz|tbz|txz|tar\.(?:gz|bz2|xz|lzma|lz)|tlz|egg)$/i;

/**
 * What of a pip requirements (or constraints) file cannot be installed from the dependency files alone: the line and
 * why; undefined when nothing.
 *
 * @param known names of the files that are there when it is installed
 */
export function requirementsReach(text: string, known: ReadonlySet<string>): string | undefined {
  for (const { number, line } of logicalLines(text)) {
    const why = lineReach(line, known);
    if (why !== undefined) return `line ${number} (${shown(line)}) ${why}`;
  }
  return undefined;
}

function lineReach(line: string, known: ReadonlySet<string>): string | undefined {
  const option = OPTION.exec(line);
  if (!option) return line.startsWith("-") || !isLocal(line) ? undefined : "installs a file or folder of the source";
  const [, name = "", value = ""] = option;
  const target = unquoted(value.trim());
  if (["-r", "--requirement", "-c", "--constraint"].includes(name)) {
    const isThere = ADDRESS.test(target) || known.has(target.replace(/^(?:\.\/)+/, ""));
    return isThere ? undefined : "includes a file of the source";
  }
  if (["-f", "--find-links"].includes(name))
    return ADDRESS.test(target) ? undefined : "looks for packages in the source";
  return isLocal(target) ? "installs the source itself" : undefined;
}

/** A path, as pip takes it for one: what is neither an address nor the name of a package. */
function isLocal(requirement: string): boolean {
  const [direct, address] = requirement.split(/\s*@\s*/, 2) as [string, string?];
  // `name @ address`, where the name has no slash; `git+ssh://git@host/x` is no such thing.
  if (address !== undefined && /^[\w.-]+(?:\s*\[[^\]]*\])?$/.test(direct)) return isPath(address.split(/\s;\s/, 1)[0]!);
  return isPath(requirement.split(/\s*;\s/, 1)[0]!);
}

function isPath(text: string): boolean {
  const path = unquoted(text.trim()).split(/\s+--/, 1)[0]!;
  if (/^file:/i.test(path)) return true;
  if (ADDRESS.test(path)) return false;
  return path.startsWith(".") || path.includes("/") || path.includes("\\") || ARCHIVE.test(path.split("[", 1)[0]!);
}

/** Lines as pip joins them: a backslash goes on, a comment ends. */
function logicalLines(text: string): { number: number; line: string }[] {
  const lines: { number: number; line: string }[] = [];
  let begun: { number: number; line: string } | undefined;
  for (const [index, raw] of text
    .replace(/^\uFEFF/, "")
    .split(/\r\n|\r|\n/)
    .entries()) {
    const isComment = /^\s*#/.test(raw);
    const goesOn = !isComment && /\\$/.test(raw);
    const part = goesOn ? raw.slice(0, -1) : raw;
    begun = { number: begun?.number ?? index + 1, line: (begun?.line ?? "") + (isComment ? ` ${part}` : part) };
    if (goesOn) continue;
    lines.push(begun);
    begun = undefined;
  }
  if (begun) lines.push(begun);
  return (
    lines
      // One space for many first: a pattern that begins with any number of them would look at each anew.
      .map(({ number, line }) => ({
        number,
        line: line
          .replaceAll(/\s+/g, " ")
          .replace(/(?:^| )#.*$/, "")
          .trim(),
      }))
      .filter(({ line }) => line !== "")
  );
}

function unquoted(text: string): string {
  return text.replace(/^(["'])(.*)\1$/, "$2");
}

/** Without what addresses may carry, and short. */
function shown(line: string): string {
  const clean = redactUrls(line);
  return clean.length > 80 ? `${clean.slice(0, 79)}…` : clean;
}
