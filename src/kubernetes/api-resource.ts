import { SlessError } from "../errors/index.ts";

/** A resource of the API server by its REST coordinates. */
export interface ApiResource {
  /** "" for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
}

/** Where one object stands; without `namespace` it is cluster-scoped. */
export interface ApiObjectPath {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  /** `status`, `log`, `token`. */
  readonly subresource?: string | undefined;
}

/** Escaping does not hide these: `..` leads up and "" to the whole collection, and servers decode `%2F` before they route. */
const NO_PART = /^\.{0,2}$|[/\\%?#]|\p{Cc}/u;

/**
 * `/apis/apps/v1/namespaces/a/deployments/b/status`; every part is escaped.
 *
 * @throws SlessError `invalid_request` for a part that no object can be named, which would lead somewhere else
 */
export function apiPath({ group, version, plural }: ApiResource, at: ApiObjectPath = {}): string {
  const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  const parts = [
    ...(at.namespace === undefined ? [] : ["namespaces", at.namespace]),
    plural,
    ...(at.name === undefined ? [] : [at.name]),
    ...(at.subresource === undefined ? [] : [at.subresource]),
  ];
  const fault = parts.find((part) => NO_PART.test(part));
  if (fault !== undefined)
    throw new SlessError("invalid_request", { cause: `${JSON.stringify(fault).slice(0, 100)} names no object` });
  return `${root}/${parts.map(encodeURIComponent).join("/")}`;
}

/** `apps/v1`, `v1`. */
export function apiVersionOf({ group, version }: ApiResource): string {
  return group === "" ? version : `${group}/${version}`;
}

function resource(apiVersion: string, kind: string, plural = `${kind.toLowerCase()}s`): ApiResource {
  const [version = "", group = ""] = apiVersion.split("/").reverse();
  return { group, version, kind, plural };
}

/** The resources of Kubernetes itself that sless reads or writes. */
export const API_RESOURCES = {
  Deployment: resource("apps/v1", "Deployment"),
  ReplicaSet: resource("apps/v1", "ReplicaSet"),
  Pod: resource("v1", "Pod"),
  Service: resource("v1", "Service"),
  Secret: resource("v1", "Secret"),
  ConfigMap: resource("v1", "ConfigMap"),
  Namespace: resource("v1", "Namespace"),
  Node: resource("v1", "Node"),
  ServiceAccount: resource("v1", "ServiceAccount"),
  ResourceQuota: resource("v1", "ResourceQuota"),
  LimitRange: resource("v1", "LimitRange"),
  CoreEvent: resource("v1", "Event"),
  Event: resource("events.k8s.io/v1", "Event"),
  Job: resource("batch/v1", "Job"),
  Lease: resource("coordination.k8s.io/v1", "Lease"),
  EndpointSlice: resource("discovery.k8s.io/v1", "EndpointSlice"),
  NetworkPolicy: resource("networking.k8s.io/v1", "NetworkPolicy", "networkpolicies"),
  Ingress: resource("networking.k8s.io/v1", "Ingress", "ingresses"),
  Role: resource("rbac.authorization.k8s.io/v1", "Role"),
  RoleBinding: resource("rbac.authorization.k8s.io/v1", "RoleBinding"),
  TokenReview: resource("authentication.k8s.io/v1", "TokenReview"),
  SubjectAccessReview: resource("authorization.k8s.io/v1", "SubjectAccessReview"),
  CustomResourceDefinition: resource("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
} as const;

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

/** meta/v1 ObjectMeta, the parts that sless uses. */
export interface ApiMeta {
  name: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
}

/** Any object of the API server; rooms that read more of it name the shape they rely on. */
export interface ApiObject {
  apiVersion?: string;
  kind?: string;
  metadata: ApiMeta;
}

export interface ApiList<T extends ApiObject> {
  metadata: { resourceVersion: string; continue?: string };
  items: T[];
}
