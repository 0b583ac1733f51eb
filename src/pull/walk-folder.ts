import { lstatSync, readdirSync, readFileSync, readlinkSync, type Stats } from "node:fs";
import { join } from "node:path";
import { isYamlName } from "../manifest/index.ts";
import { IGNORE_FILE, type IsIgnored, ignoreRules } from "../source/index.ts";
import { below, blobIdOf, type FolderFile, type ObjectFormat, splitPath } from "./folder-files.ts";
import { isStagingName } from "./staging.ts";
import type { TrackedFiles } from "./tracked-files.ts";

export const GIT_IGNORE = ".gitignore";
/** Contents up to this size are kept: links and Git LFS pointers are told by them. */
const KEPT_MAX_BYTES = 200;
const MANIFEST_MAX_BYTES = 1 << 20;
/** A larger file belongs to no source that could be deployed, so it is not read to be told apart. */
const READ_MAX_BYTES = 256 << 20;

export interface WalkOptions {
  /** Absolute, without links. */
  readonly root: string;
  /** Folder below the root that is walked; "" = all. */
  readonly folder: string;
  /** undefined: the folder is no checkout. */
  readonly tracked: TrackedFiles | undefined;
  readonly format: ObjectFormat;
  /** Patterns that hold beside the `.gitignore` files, weaker than they. */
  readonly exclude: string;
}

/**
 * The files below a folder that Git would take: those that the commit has, and those that no `.gitignore` names; and
 * the ignore files of sless above it. Links are not followed, and neither `.git` nor repositories within are looked
 * into. Contents are read when they are asked for.
 *
 * Synchronous: a command line has nothing else to do meanwhile, and thousands of small files are read in half the time.
 */
export function walkFolder(options: WalkOptions): Map<string, FolderFile> {
  const files = new Map<string, FolderFile>();
  const texts = new Map<string, string>();
  if (options.exclude !== "") texts.set(GIT_IGNORE, options.exclude);
  let rules = ignoreRules(texts);
  let at = "";
  for (const name of options.folder.split("/").filter(Boolean)) {
    const names = namesIn(join(options.root, at));
    rules = rulesIn(at, names, texts, rules, options);
    if (names.includes(IGNORE_FILE)) addFile(below(at, IGNORE_FILE), files, options);
    at = below(at, name);
  }
  const isTrackedFolder = lazyFolders(options.tracked);
  walk({ path: options.folder, texts, rules }, { files, isTrackedFolder, options });
  return files;
}

/**
 * A file at a path, whatever Git thinks of it; undefined when there is none, or something else. What can be reached
 * through a link alone is not there.
 */
export function lookAt(path: string, options: WalkOptions): FolderFile | undefined {
  for (let [above] = splitPath(path); above !== ""; [above] = splitPath(above))
    if (!statOf(join(options.root, above))?.isDirectory()) return undefined;
  const files = new Map<string, FolderFile>();
  addFile(path, files, options);
  return files.get(path);
}

interface Walking {
  readonly files: Map<string, FolderFile>;
  readonly isTrackedFolder: (path: string) => boolean;
  readonly options: WalkOptions;
}

/** A folder, with the texts of the `.gitignore` files above it. */
interface Step {
  readonly path: string;
  readonly texts: ReadonlyMap<string, string>;
  readonly rules: IsIgnored;
}

function walk(step: Step, walking: Walking): void {
  const { files, isTrackedFolder, options } = walking;
  const names = namesIn(join(options.root, step.path));
  if (step.path !== options.folder && names.some(isGitName)) {
    files.set(step.path, REPOSITORY_WITHIN);
    return;
  }
  const texts = new Map(step.texts);
  const rules = rulesIn(step.path, names, texts, step.rules, options);
  for (const name of names) {
    const path = below(step.path, name);
    if (isGitName(name) || isStagingName(name)) continue;
    const stat = statOf(join(options.root, path));
    if (stat?.isDirectory()) {
      if (!rules(path, true) || isTrackedFolder(path)) walk({ path, texts, rules }, walking);
    } else if (options.tracked?.has(path) || !rules(path, false)) addFile(path, files, options, stat);
  }
}

function rulesIn(
  folder: string,
  names: readonly string[],
  texts: Map<string, string>,
  above: IsIgnored,
  { root, exclude }: WalkOptions,
): IsIgnored {
  if (!names.includes(GIT_IGNORE)) return above;
  const path = below(folder, GIT_IGNORE);
  const stat = statOf(join(root, path));
  if (!stat?.isFile() || stat.size > MANIFEST_MAX_BYTES) return above;
  const text = readFileSync(join(root, path), "utf8");
  texts.set(path, folder === "" ? `${exclude}\n${text}` : text);
  return ignoreRules(texts);
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

function statOf(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

function isGitName(name: string): boolean {
  return name.toLowerCase() === ".git";
}

/** What Git would take for a submodule. */
const REPOSITORY_WITHIN: FolderFile = { mode: "160000", id: "0".repeat(40), size: 0, read: () => new Uint8Array() };

function addFile(
  path: string,
  files: Map<string, FolderFile>,
  options: WalkOptions,
  stat = statOf(join(options.root, path)),
): void {
  if (stat?.isFile() || stat?.isSymbolicLink()) files.set(path, diskFile(path, stat, options));
}

function diskFile(path: string, stat: Stats, { root, tracked, format }: WalkOptions): FolderFile {
  const absolute = join(root, path);
  const entry = tracked?.get(path);
  const mode = modeOf(stat, entry?.mode);
  const [, name] = splitPath(path);
  const isKept = stat.size <= KEPT_MAX_BYTES || name === IGNORE_FILE || isYamlName(name);
  let kept: Uint8Array | undefined;
  let id: string | undefined;
  function read(): Uint8Array {
    if (kept) return kept;
    const bytes = mode === "120000" ? readlinkSync(absolute, "buffer") : readFileSync(absolute);
    if (isKept && bytes.length <= MANIFEST_MAX_BYTES) kept = bytes;
    return bytes;
  }
  return {
    mode,
    size: stat.size,
    read,
    get id() {
      id ??= stat.size > READ_MAX_BYTES ? `unread:${path}` : idOf(read(), entry?.id, format);
      return id;
    },
  };
}

/** Windows has no executable bit: what is committed holds. */
function modeOf(stat: Stats, committed: string | undefined): FolderFile["mode"] {
  if (stat.isSymbolicLink()) return "120000";
  if (process.platform === "win32") return committed === "100755" ? committed : "100644";
  return stat.mode & 0o100 ? "100755" : "100644";
}

/** What differs from the commit in line ends alone was converted by Git (`core.autocrlf`, `eol=crlf`): it is the same. */
function idOf(bytes: Uint8Array, committed: string | undefined, format: ObjectFormat): string {
  const id = blobIdOf(bytes, format);
  if (committed === undefined || id === committed) return id;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (!text.includes("\r\n")) return id;
  const unix = blobIdOf(Buffer.from(text.toString("latin1").replaceAll("\r\n", "\n"), "latin1"), format);
  return unix === committed ? unix : id;
}

function lazyFolders(tracked: TrackedFiles | undefined): (path: string) => boolean {
  let folders: Set<string> | undefined;
  return (path) => {
    if (!folders) {
      folders = new Set();
      for (const file of tracked?.keys() ?? []) {
        let [folder] = splitPath(file);
        for (; folder !== "" && !folders.has(folder); [folder] = splitPath(folder)) folders.add(folder);
      }
    }
    return folders.has(path);
  };
}
