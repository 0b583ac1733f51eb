import type { AnyObject, ObjectRef } from "../apis/index.ts";
import type { Definitions } from "../desired/index.ts";
import type { FolderFile, FolderFiles, ObjectFormat } from "./folder-files.ts";
import type { PresentSource } from "./source-changes.ts";
import type { TrackedFiles } from "./tracked-files.ts";

/** The folder as it is now. */
export interface FolderState {
  /** Folder below the root that is pulled into; "" = the root. Nothing outside it is written. */
  readonly scope: string;
  /** What Git would take of it. */
  readonly files: FolderFiles;
  readonly definitions: Definitions;
  /** By their folders. */
  readonly sources: ReadonlyMap<string, PresentSource>;
  /** undefined: no checkout, so nothing there is known to be unsaved. */
  readonly tracked: TrackedFiles | undefined;
  readonly format: ObjectFormat;
  /** What is at a path, also when Git ignores it. */
  lookAt(path: string): FolderFile | undefined;
}

/** All that a plan is made of. */
export interface PullRequest {
  readonly folder: FolderState;
  readonly namespace: string;
  /** All Functions, Services, FunctionJobs and Triggers of the namespace, whoever owns them. */
  readonly live: readonly AnyObject[];
  /** UID of the Repository whose checkout the folder is. */
  readonly repository: string | undefined;
  /** Names of the Repositories of the namespace by their UIDs. */
  readonly repositoryNames: ReadonlyMap<string, string>;
  /** Chosen on the command line. */
  isChosen(ref: ObjectRef): boolean;
  /** Overwrites and removes what is not committed too. */
  readonly force: boolean;
  /** Removes what is not on the server. */
  readonly prune: boolean;
  /**
   * Why objects of the folder are not gone from the server but were never there: by `refText`. undefined when that cannot
   * be known; then no more is pruned than a sync would delete unasked.
   */
  readonly neverDeployed: ReadonlyMap<string, string> | undefined;
}

export type PullAction = "created" | "configured" | "unchanged" | "deleted" | "skipped" | "failed";

/** What becomes of one object. */
export interface PullRow {
  readonly ref: ObjectRef;
  readonly action: PullAction;
  /** Manifest below the root. */
  readonly file?: string;
  /** Of what is skipped or failed, and of what needs a word. */
  readonly reason?: string;
  /** It should have been pulled, and somebody must act so that it is. */
  readonly isFault?: boolean;
  /** Name of the Repository that it is skipped for, because it belongs to that. */
  readonly owner?: string;
  /** `spec.memoryMB`, `metadata.labels`, `source`; never values. */
  readonly changes: readonly string[];
  /** Files of the source; paths are below the root. */
  readonly written: readonly string[];
  readonly removed: readonly string[];
  /** In the folder but not in the server's source, and left there because Git does not have them. */
  readonly kept: readonly string[];
}

/** A content, told without holding it. */
export type Seen = Pick<FolderFile, "mode" | "id">;

/** What is seen now: an id that is counted later would be that of a later content. */
export function seen(file: FolderFile | undefined): Seen | undefined {
  return file && { mode: file.mode, id: file.id };
}

/** A file that changes; null goes. */
export interface FileChange {
  readonly path: string;
  readonly file: FolderFile | null;
  readonly isManifest: boolean;
  /** What was there when the plan was made. */
  readonly before: Seen | undefined;
  /** `refText` of the objects that it changes for. */
  readonly objects: readonly string[];
}
