/** Kubernetes object metadata, the part that sless reads and writes. Times are RFC 3339 in UTC. */
export interface ObjectMeta {
  name: string;
  namespace: string;
  uid: string;
  /** Opaque; only compared for equality, never ordered by callers. */
  resourceVersion: string;
  /** Grows by one with every change of `spec`, and when a deletion begins to wait for finalizers; starts at 1. */
  generation: number;
  creationTimestamp: string;
  deletionTimestamp?: string;
  finalizers?: string[];
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
}

/** Names an object of a known kind. */
export interface ObjectKey {
  readonly namespace: string;
  readonly name: string;
}

/** `<namespace>/<name>`, the form of logs and work queues. */
export function keyOf(object: { metadata: { namespace: string; name: string } } | ObjectKey): string {
  return "metadata" in object
    ? `${object.metadata.namespace}/${object.metadata.name}`
    : `${object.namespace}/${object.name}`;
}

/** DNS-1035 label (RFC 1035 §2.3.1 as Kubernetes reads it). */
export const NAME_PATTERN = "^[a-z]([-a-z0-9]*[a-z0-9])?$";
export const NAME_MAX_LENGTH = 52;
export const NAMESPACE_PATTERN = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$";
export const NAMESPACE_MAX_LENGTH = 54;

const namePattern = new RegExp(NAME_PATTERN);
const namespacePattern = new RegExp(NAMESPACE_PATTERN);

/** What an object of a known kind can be named. */
export function isObjectName(text: string): boolean {
  return text.length <= NAME_MAX_LENGTH && namePattern.test(text);
}

/** What a namespace of such objects can be named. */
export function isNamespaceName(text: string): boolean {
  return text.length <= NAMESPACE_MAX_LENGTH && namespacePattern.test(text);
}
