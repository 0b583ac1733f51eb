/** Paths below a repository's root: slash-separated, no leading slash, "" is the root. */

/** `child` in `folder`. */
export function below(folder: string, child: string): string {
  return folder === "" ? child : `${folder}/${child}`;
}

/** Folder of a file or folder; the root's is undefined. */
export function parentOf(path: string): string | undefined {
  if (path === "") return undefined;
  const slash = path.lastIndexOf("/");
  return slash < 0 ? "" : path.slice(0, slash);
}

/** `path` is `folder` or lies in it. */
export function contains(folder: string, path: string): boolean {
  return folder === "" || path === folder || path.startsWith(`${folder}/`);
}

/** A path as people write it (`./a//b/`) from `folder`; undefined when it is absolute or climbs (`..`). */
export function resolveBelow(folder: string, written: string): string | undefined {
  if (written.startsWith("/")) return undefined;
  let path = folder;
  for (const part of written.split("/")) {
    if (part === "..") return undefined;
    if (part !== "" && part !== ".") path = below(path, part);
  }
  return path;
}
