/** The API group of every kind of sless. */
export const GROUP = "sless.kube5s.ru";
export const VERSION = "v1alpha1";
export const API_VERSION = `${GROUP}/${VERSION}` as const;

/** Annotations and labels that sless writes or understands; each is described in `docs/architecture.md`. */
export const ANNOTATIONS = {
  /** `<repository uid>/<kind>/<namespace>/<name>`: which repository owns this very object. */
  owner: `${GROUP}/owner`,
  /** Folder or file of the manifest below the repository's root, `functions/hello/function.yaml`. */
  path: `${GROUP}/path`,
  /** Revision whose sync last wrote the object or its source, `main@sha1:<40 hex>`. */
  revision: `${GROUP}/revision`,
  /** Hash of what sync last applied, so that a field dropped from the manifest is seen without reading managedFields. */
  appliedHash: `${GROUP}/applied-hash`,
  /** Digest of the source's dependency files alone: tells a change of dependencies from one of code. */
  dependenciesDigest: `${GROUP}/dependencies-digest`,
  /** `enabled`: a manifest takes over an object that nobody owns. */
  adopt: `${GROUP}/adopt`,
  /** `disabled`: never deleted by a sync. */
  prune: `${GROUP}/prune`,
  /** `disabled`: never written by a sync. */
  reconcile: `${GROUP}/reconcile`,
  /** A token; when it differs from `status.lastHandledReconcileAt` the repository is synced now. */
  requestedAt: `${GROUP}/requestedAt`,
  /** `<repository uid>/<own uid>`: the held deletion of this very object is approved. */
  deletionApproved: `${GROUP}/deletion-approved`,
} as const;

export const LABELS = {
  /** UID of the owning repository; only for selecting, the owner annotation decides. */
  repository: `${GROUP}/repository`,
  /** `held`: a sync wants this object deleted and waits for an approval. */
  deletion: `${GROUP}/deletion`,
} as const;

/** Finalizer of objects whose workload, build or source must be cleaned up. */
export const FINALIZER = `${GROUP}/cleanup`;
export const ENABLED = "enabled";
export const DISABLED = "disabled";
export const HELD = "held";
