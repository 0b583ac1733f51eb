import type { FolderState } from "./pull-request.ts";

/**
 * What is at the path is not what Git has: changed, added or deleted, and not committed. Overwritten it would be lost.
 * In a folder that is no checkout nothing is known to be unsaved.
 */
export function isUnsaved(path: string, { tracked, lookAt }: Pick<FolderState, "tracked" | "lookAt">): boolean {
  if (!tracked) return false;
  const present = lookAt(path);
  const committed = tracked.get(path);
  if (!present || !committed) return present !== undefined || committed !== undefined;
  return present.id !== committed.id || present.mode !== committed.mode;
}

/** Git has what is at the path, so that it can be had back. */
export function isSaved(path: string, folder: Pick<FolderState, "tracked" | "lookAt">): boolean {
  return folder.tracked !== undefined && !isUnsaved(path, folder);
}

const PATHS_SHOWN = 3;

/** Why files are not overwritten. */
export function unsavedReason(paths: readonly string[]): string {
  return `unsaved changes in ${pathsText(paths)}; commit them first, or lose them with --force`;
}

/** The first few of many paths. */
export function pathsText(paths: readonly string[]): string {
  const more = paths.length > PATHS_SHOWN ? ` and ${paths.length - PATHS_SHOWN} more` : "";
  return paths.slice(0, PATHS_SHOWN).join(", ") + more;
}
