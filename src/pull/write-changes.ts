import { lstatSync, mkdirSync, renameSync, rmdirSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../errors/index.ts";
import { entryFaults } from "../source/index.ts";
import { contains, type FolderFile, splitPath } from "./folder-files.ts";
import type { FileChange } from "./pull-request.ts";
import { openStaging, removeAbandoned, type Staging } from "./staging.ts";

export interface WriteOptions {
  /** Absolute, without links. */
  readonly root: string;
  /** Folder below the root outside of which nothing is written. */
  readonly scope: string;
  /** What is at a path now. */
  readonly lookAt: (path: string) => FolderFile | undefined;
  /** Ends between two files. */
  readonly signal: AbortSignal;
}

export interface Written {
  /** Why objects could not be written, by `refText`. Of these a part of the source may be written, the manifest not. */
  readonly failed: ReadonlyMap<string, string>;
  /** The signal came before all was written. */
  readonly isInterrupted: boolean;
}

/**
 * Writes a plan's changes: what goes first, then sources, then manifests, so that no manifest stands without its code.
 * Each file is there whole, old or new. Nothing is written outside the folder, through a link, or into Git's own files,
 * and nothing over what was changed since the plan was made.
 */
export async function writeChanges(changes: readonly FileChange[], options: WriteOptions): Promise<Written> {
  const failed = new Map<string, string>();
  const folder = join(options.root, options.scope);
  if (changes.length === 0) {
    // A pull that was killed at its very end left nothing but this.
    removeAbandoned(folder);
    return { failed, isInterrupted: false };
  }
  const staging = openStaging(folder);
  try {
    for (const change of inOrder(changes)) {
      if (options.signal.aborted) return { failed, isInterrupted: true };
      // Objects of one manifest are written together or not at all.
      const before = change.isManifest ? change.objects.map((key) => failed.get(key)).find(Boolean) : undefined;
      const reason = before ?? writeOne(change, staging, options);
      if (reason !== undefined) for (const key of change.objects) failed.set(key, failed.get(key) ?? reason);
      // Lets a signal come through.
      await new Promise((done) => setImmediate(done));
    }
  } finally {
    staging.remove();
  }
  return { failed, isInterrupted: false };
}

function inOrder(changes: readonly FileChange[]): FileChange[] {
  const rank = ({ isManifest, file }: FileChange) => (isManifest ? 2 : 0) + (file ? 1 : 0);
  return [...changes].sort((a, b) => rank(a) - rank(b));
}

/** Why it failed; undefined when all is well. */
function writeOne(change: FileChange, staging: Staging, { root, scope, lookAt }: WriteOptions): string | undefined {
  const { path, file, before } = change;
  try {
    checkPath(path, scope);
    checkFolders(root, path);
    const present = lookAt(path);
    if (present?.id !== before?.id || present?.mode !== before?.mode)
      throw new Error("it was changed while this pull was under way; pull again");
    if (file) put(join(root, path), file, staging);
    else remove(root, path, scope);
    return undefined;
  } catch (error) {
    return `${path} cannot be written: ${messageOf(error)}`;
  }
}

function checkPath(path: string, scope: string): void {
  const [fault] = entryFaults([{ path, kind: "file" }]);
  if (fault) throw new Error(`the path ${fault.reason}`);
  if (!contains(scope, path) || path === scope) throw new Error("it lies outside of the folder");
}

/** Every folder on the way is a real one, or is made. */
function checkFolders(root: string, path: string): void {
  let at = root;
  for (const part of splitPath(path)[0].split("/").filter(Boolean)) {
    at = join(at, part);
    const stat = lstatSync(at, { throwIfNoEntry: false });
    if (stat?.isSymbolicLink()) throw new Error("a link stands on the way");
    if (stat && !stat.isDirectory()) throw new Error("a file stands on the way");
  }
}

function put(target: string, file: FolderFile, staging: Staging): void {
  const fresh = staging.next();
  const bytes = file.read();
  if (file.mode === "120000") symlinkSync(Buffer.from(bytes).toString(), fresh);
  else writeFileSync(fresh, bytes, { flag: "wx", mode: file.mode === "100755" ? 0o777 : 0o666 });
  mkdirSync(join(target, ".."), { recursive: true });
  renameSync(fresh, target);
}

function remove(root: string, path: string, scope: string): void {
  unlinkSync(join(root, path));
  for (let [folder] = splitPath(path); folder !== scope && folder !== ""; [folder] = splitPath(folder)) {
    try {
      rmdirSync(join(root, folder));
    } catch {
      // Something is left in it.
      return;
    }
  }
}
