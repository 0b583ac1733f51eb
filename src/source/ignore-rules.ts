import { type IgnorePattern, parseIgnoreText } from "./ignore-pattern.ts";

/** The name of the files whose texts `ignoreRules` takes. */
export const IGNORE_FILE = ".slessignore";

/** Whether a path is ignored. `path` as in the tree: no slash in front or at the end. */
export type IsIgnored = (path: string, isFolder: boolean) => boolean;

interface Rules {
  /** Segments of the file's folder. */
  readonly depth: number;
  /** Last line first: the last one that matches decides. */
  readonly patterns: readonly IgnorePattern[];
}

/** Gitignore rules whose texts are found on the way down a tree. */
export interface GrowingRules {
  /**
   * Tells rules of a folder, before anything below it is asked about. Told twice, the later ones go before the earlier.
   */
  add(folder: string, text: string): void;
  readonly isIgnored: IsIgnored;
}

/**
 * Gitignore rules over a tree: those of a folder go before those of its parents, and what lies in an ignored folder
 * cannot be taken back. Upper and lower case differ. Manifests are the caller's: no rule hides them.
 *
 * Pure. Answers about folders are remembered, so keep the function no longer than the texts hold.
 *
 * @param texts of the ignore files by their paths (`functions/.slessignore`)
 */
export function ignoreRules(texts: ReadonlyMap<string, string>): IsIgnored {
  const rules = growingRules();
  for (const [path, text] of texts) rules.add(parentOf(path), text);
  return rules.isIgnored;
}

/** As `ignoreRules`, folder by folder. */
export function growingRules(): GrowingRules {
  const byFolder = new Map<string, Rules>();
  const folders = new Map<string, boolean>([["", false]]);

  function isFolderIgnored(path: string): boolean {
    const known = folders.get(path);
    if (known !== undefined) return known;
    const ignored = isFolderIgnored(parentOf(path)) || decides(path, true);
    folders.set(path, ignored);
    return ignored;
  }

  function decides(path: string, isFolder: boolean): boolean {
    const segments = path.split("/");
    for (let folder = path; folder !== ""; ) {
      folder = parentOf(folder);
      const rules = byFolder.get(folder);
      const below = rules && segments.slice(rules.depth);
      const match = below && rules.patterns.find((pattern) => pattern.matches(below, isFolder));
      if (match !== undefined) return !match.isNegated;
    }
    return false;
  }

  return {
    add(folder, text) {
      const patterns = parseIgnoreText(text).reverse();
      if (patterns.length === 0) return;
      const depth = folder === "" ? 0 : folder.split("/").length;
      byFolder.set(folder, { depth, patterns: [...patterns, ...(byFolder.get(folder)?.patterns ?? [])] });
    },
    isIgnored(path, isFolder) {
      if (byFolder.size === 0) return false;
      return isFolder ? isFolderIgnored(path) : isFolderIgnored(parentOf(path)) || decides(path, false);
    },
  };
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}
