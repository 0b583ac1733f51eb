/** A full object id in lower-case hex: 40 (sha1) or 64 (sha256) digits. */
export type ObjectId = string;

export interface RefRequest {
  readonly branch?: string;
  readonly tag?: string;
  /** The newest tag that is a version in this range, as npm writes ranges. */
  readonly semver?: string;
  readonly commit?: string;
}

export interface Resolved {
  readonly commit: ObjectId;
  /** The root tree of the commit. */
  readonly tree: ObjectId;
  /** `main`, `v1.2.0`; undefined for a commit by id or a detached HEAD. */
  readonly name: string | undefined;
  /**
   * `main@sha1:<hex>`, detached `sha1:<hex>` (sha256 repositories: `sha256:`); of a work tree with edits
   * `main@worktree:<hex of its tree>`, which names no commit.
   */
  readonly revision: string;
}

/** Modes as Git writes them. */
export type TreeMode = "40000" | "100644" | "100755" | "120000" | "160000";

export interface TreeEntry {
  readonly name: string;
  readonly mode: TreeMode;
  readonly id: ObjectId;
}

/** Objects by id. Ids name their content, so what was read once may be kept. */
export interface GitObjects {
  /** Entries of trees in bulk, in Git's order. Every id asked for is in the result, or it throws: never a partial tree. */
  trees(ids: readonly ObjectId[]): Promise<Map<ObjectId, readonly TreeEntry[]>>;
  /** Sizes in bytes of blobs in bulk, without reading their content where the adapter can. */
  sizes(ids: readonly ObjectId[]): Promise<Map<ObjectId, number>>;
  /** Contents of blobs in bulk; the caller bounds what it asks for by `sizes`. */
  blobs(ids: readonly ObjectId[]): Promise<Map<ObjectId, Uint8Array>>;
}

/**
 * Reads one Git repository in place, or a mirror of a remote one, whose `resolve` asks the server and fetches.
 *
 * @throws SlessError `repository_unreachable`, `repository_unsupported`, `object_missing`
 */
export interface GitReader extends GitObjects {
  /** `resolve` asks a server over the network; whoever can do with an answer of a moment ago need not call it again. */
  readonly asksServer?: boolean;
  /**
   * Without a field: HEAD, whatever branch it names.
   *
   * @throws SlessError `ref_not_found`, `repository_empty`, `semver_invalid`; of a remote repository also
   *   `credentials_refused`, `credentials_missing`, `address_refused`, `repository_too_large`, `storage_unavailable`
   */
  resolve(ref: RefRequest): Promise<Resolved>;
  /** A name as people write it: branch, tag, `HEAD`, `HEAD~1`, a (short) commit id. For the command line. */
  resolveExpression(expression: string): Promise<Resolved>;
  /** Best common ancestor, undefined for unrelated histories. */
  mergeBase(a: ObjectId, b: ObjectId): Promise<ObjectId | undefined>;
  close(): Promise<void>;
}
