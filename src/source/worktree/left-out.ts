import { growingRules } from "../ignore-rules.ts";
import { type RawPath, toText } from "./raw-path.ts";
import type { TrackedFiles } from "./tracked-files.ts";

/**
 * What editors and systems leave beside the files, unless it is tracked or a `!` line takes it back: a file that is
 * being edited must not be another source than the file at rest.
 */
const LEFT_BESIDE = [
  "4913", // vim tries whether it can make a file
  ".*.sw[a-p]",
  "*~",
  "\\#*#", // Emacs
  ".#*",
  "*___jb_tmp___", // JetBrains
  "*___jb_old___",
  ".*.kate-swp",
  ".goutputstream-*", // GNOME
  ".DS_Store",
].join("\n");

/** Which files of a work tree are none of its content. */
export interface LeftOut {
  /** Tells the text of a folder's `.gitignore`, before anything below the folder is asked about. */
  add(folder: RawPath, text: string): void;
  has(path: RawPath, isFolder: boolean): boolean;
  /** Another one when a rule differs. */
  version(): string;
}

/**
 * @param exclude text of `.git/info/exclude`
 * @param excluded folders that are left out whatever is said: where sless keeps its data
 */
export function createLeftOut(tracked: TrackedFiles, exclude: string, excluded: ReadonlySet<RawPath>): LeftOut {
  const rules = growingRules();
  const told: string[] = [];

  function add(folder: RawPath, text: string): void {
    rules.add(toText(folder), text);
    told.push(folder, text);
  }

  add("", LEFT_BESIDE);
  add("", exclude);
  return {
    add,
    has(path, isFolder) {
      if (isFolder && excluded.has(path)) return true;
      const isTracked = isFolder ? tracked.folders.has(path) : tracked.files.has(path);
      return !isTracked && rules.isIgnored(toText(path), isFolder);
    },
    version: () => JSON.stringify(told),
  };
}
