import { API_VERSION, type Fault, type Kind, manifestFaults } from "../apis/index.ts";
import { invalidRequest } from "./invalid-request.ts";

const NAME_PART = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;
const DNS_SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const LABEL_MAX = 63;
const ANNOTATIONS_MAX_BYTES = 256 * 1024;

/** Parts of an object that writers set. */
export interface Writable {
  labels?: Readonly<Record<string, string>>;
  annotations?: Readonly<Record<string, string>>;
  /** A set, as in Kubernetes. */
  finalizers?: readonly string[];
  spec?: unknown;
}

/**
 * Refuses what an API server with our CRDs would refuse: names, labels, annotations, finalizers and the spec.
 *
 * @throws SlessError `invalid_request`; besides `cause` its details hold one message per faulty path (`spec.memoryMB`)
 */
export function checkObject(kind: Kind, key: { namespace: string; name: string }, object: Writable): void {
  refuseFaults(objectFaults(kind, key, object));
}

/** All of these faults. Pure. */
export function objectFaults(
  kind: Kind,
  { namespace, name }: { namespace: string; name: string },
  object: Writable,
): Fault[] {
  const { labels, annotations, spec } = object;
  const metadata = { namespace, name, ...(labels && { labels }), ...(annotations && { annotations }) };
  return [...manifestFaults(kind, { apiVersion: API_VERSION, kind, metadata, spec }), ...metadataFaults(object)];
}

/** The same for labels, annotations and finalizers alone. */
export function checkMetadata(object: Writable): void {
  const { labels = {}, annotations = {} } = object;
  const notText = Object.entries({ labels, annotations }).flatMap(([field, map]) =>
    Object.entries(map)
      .filter(([, value]) => typeof value !== "string")
      .map(([key]) => fault([field, key], "wants a string")),
  );
  refuseFaults([...notText, ...metadataFaults(object)]);
}

/** @throws SlessError `invalid_request` when there are faults */
export function refuseFaults(faults: readonly Fault[]): void {
  if (faults.length === 0) return;
  throw invalidRequest(faults.map(({ path, message }) => ({ path: path.join("."), message })));
}

function metadataFaults({ labels = {}, annotations = {}, finalizers = [] }: Writable): Fault[] {
  const size = Object.entries(annotations).reduce((sum, [key, value]) => sum + key.length + String(value).length, 0);
  return [
    ...keyFaults("labels", labels),
    ...Object.entries(labels)
      .filter(([, value]) => value !== "" && !(String(value).length <= LABEL_MAX && NAME_PART.test(String(value))))
      .map(([key]) => fault(["labels", key], `is no label value: at most ${LABEL_MAX} letters, digits, "-", "_", "."`)),
    ...keyFaults("annotations", annotations),
    ...(size > ANNOTATIONS_MAX_BYTES ? [fault(["annotations"], "are longer than 256 KiB together; shorten them")] : []),
    ...finalizers
      .filter((name) => !isQualifiedName(name))
      .map((name) => fault(["finalizers"], `"${name}" is no qualified name; write <domain>/<name>`)),
  ];
}

function keyFaults(field: string, map: Readonly<Record<string, unknown>>): Fault[] {
  return Object.keys(map)
    .filter((key) => !isQualifiedName(key))
    .map((key) => fault([field, key], `is no qualified name; write name or <domain>/<name>`));
}

function isQualifiedName(text: string): boolean {
  const parts = text.split("/");
  const name = parts.at(-1)!;
  const prefix = parts.length === 2 ? parts[0]! : undefined;
  if (parts.length > 2 || name.length > LABEL_MAX || !NAME_PART.test(name)) return false;
  return prefix === undefined || (prefix.length <= 253 && DNS_SUBDOMAIN.test(prefix));
}

function fault(path: readonly (string | number)[], message: string): Fault {
  return { path: ["metadata", ...path], message };
}
