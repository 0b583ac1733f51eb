import type { AnyObject, Kind, ObjectIntent, ObjectKey, ObjectOf, StatusOf } from "../apis/index.ts";

/** Writers, as field owners of server-side apply. Each owns only the fields that it applied. */
export type FieldOwner = "sync" | "api" | "reconciler" | "approval" | "hold";

export interface ListOptions {
  namespace?: string;
  /** All of these labels with exactly these values. */
  labels?: Readonly<Record<string, string>>;
}

export interface PageOptions {
  namespace: string;
  /** At most so many objects, one at least; the page may hold fewer where they are large. */
  limit: number;
  /** `next` of the page before; default the first page. */
  continue?: string;
}

export interface Page<K extends Kind> {
  readonly items: ObjectOf<K>[];
  /** Undefined on the last page. */
  readonly next?: string;
}

/** What must hold for an apply; a version alone says nothing, for an apply also creates. */
export type ApplyPreconditions =
  | { readonly uid?: never; readonly resourceVersion?: never; readonly absent?: never }
  /** There must be no such object. */
  | { readonly uid?: never; readonly resourceVersion?: never; readonly absent: true }
  /** The object must exist with that UID, and in that version. */
  | { readonly uid: string; readonly resourceVersion?: string; readonly absent?: never };

export type WatchEvent<K extends Kind> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: ObjectOf<K> }
  /** Everything up to this version was delivered. */
  | { readonly type: "BOOKMARK"; readonly resourceVersion: string };

/**
 * Objects by kind, namespace and name, with the semantics of the Kubernetes API that controllers rely on.
 * What a call resolves with is durable. Objects that are returned must not be changed by the caller (the embedded
 * store freezes them).
 *
 * @throws SlessError `conflict` (stale resourceVersion or a UID precondition that does not hold), `not_found`,
 *   `already_exists`, `invalid_request` (does not fit the kind's schema; besides `cause` the details hold a message per
 *   faulty path, `spec.memoryMB`), `too_large` (1.5 MiB), `storage_unavailable`; on a cluster also
 *   `cluster_unavailable` (no answer, or kinds that are not installed), `namespace_missing`, `cluster_refused` (rights,
 *   quotas, admission: in the server's words)
 */
export interface ResourceStore {
  get<K extends Kind>(kind: K, key: ObjectKey): Promise<ObjectOf<K> | undefined>;
  /** All that match, sorted by namespace and name; `resourceVersion` is where a watch may go on. */
  list<K extends Kind>(kind: K, options?: ListOptions): Promise<{ items: ObjectOf<K>[]; resourceVersion: string }>;
  /**
   * A part of a namespace's objects, by name, at the cost of that part alone. What is created or deleted between two
   * pages neither repeats nor hides others. A `continue` that no page gave throws SlessError `invalid_request`.
   */
  page<K extends Kind>(kind: K, options: PageOptions): Promise<Page<K>>;
  /**
   * Events after `from` (a version of `list` or of an event) without gap or repetition, in order, until `signal` aborts;
   * then it ends without an error. An object that begins or ceases to match is ADDED or DELETED. The store may end a
   * watch: go on from the last version.
   * A version that is too old throws SlessError `conflict`: list again (HTTP 410 Gone).
   */
  watch<K extends Kind>(
    kind: K,
    options: ListOptions & { from: string; signal: AbortSignal },
  ): AsyncIterable<WatchEvent<K>>;
  create<K extends Kind>(intent: ObjectIntent<K>, options: { owner: FieldOwner }): Promise<ObjectOf<K>>;
  /**
   * Server-side apply, always forced: creates the object or sets the fields that the intent names and takes their
   * ownership; a field that this owner applied before and leaves out now goes, unless another owner has it too.
   * Maps merge by leaf, lists are atomic, finalizers are a set. A field whose value changes leaves its other owners; an
   * equal value is shared. What changes nothing at all, owners neither, gives no version and returns the present object.
   * What an owner created or patched does not count as applied by it, as in Kubernetes.
   */
  apply<K extends Kind>(
    intent: ObjectIntent<K>,
    options: { owner: FieldOwner } & ApplyPreconditions,
  ): Promise<ObjectOf<K>>;
  /**
   * JSON merge patch (RFC 7396) of metadata (labels, annotations, finalizers) and spec; null removes. The owner gets the
   * fields that change, alone. Removing the last finalizer of a terminating object ends it and returns its last state.
   */
  patch<K extends Kind>(
    kind: K,
    key: ObjectKey,
    patch: MergePatch,
    options: { owner: FieldOwner; uid?: string; resourceVersion?: string },
  ): Promise<ObjectOf<K>>;
  /**
   * Names of the spec's fields (`replicas`) of which the owner applied something and still has it, sorted; what it
   * created or patched does not count. Of an object that is not there: none.
   */
  appliedFields(kind: Kind, key: ObjectKey, owner: FieldOwner): Promise<readonly string[]>;
  /**
   * Replaces the status alone; fails with `conflict` when `resourceVersion` is stale. A status that equals the object's
   * own, as the caller has read it, is not written and not looked at again. The owner, default "reconciler", gets the
   * fields that change; the embedded store keeps no owners of statuses.
   */
  updateStatus<K extends Kind>(
    object: Pick<ObjectOf<K>, "kind" | "metadata" | "status">,
    status: StatusOf<K>,
    options?: { owner: FieldOwner },
  ): Promise<ObjectOf<K>>;
  /**
   * With finalizers: sets `deletionTimestamp` (the object goes when the last finalizer is removed); else deletes.
   * Deleting what is not there resolves with "absent".
   */
  delete(
    kind: Kind,
    key: ObjectKey,
    options?: { uid?: string; resourceVersion?: string },
  ): Promise<"deleted" | "terminating" | "absent">;
}

export interface MergePatch {
  metadata?: {
    labels?: Record<string, string | null>;
    annotations?: Record<string, string | null>;
    finalizers?: string[] | null;
  };
  spec?: Record<string, unknown>;
}

export type { AnyObject };
