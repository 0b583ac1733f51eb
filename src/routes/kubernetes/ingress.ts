import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { CHILD_LABELS, MANAGED_BY, MANAGED_SELECTOR, type ObjectKey } from "../../apis/index.ts";
import type { ApiObject } from "../../kubernetes/index.ts";

export interface IngressSettings {
  /** Of sless itself: an Ingress leads to Services of its own namespace only. */
  readonly namespace: string;
  /** The host of a target's own, `hello.default.fn.example.org`. */
  readonly hostOf: (target: ObjectKey) => string;
  /** Default: the cluster's default class. */
  readonly className?: string | undefined;
  /** Secret in `namespace` with a certificate for all of these hosts; without it the routes are plain http. */
  readonly tlsSecret?: string | undefined;
  /** The gateway's. */
  readonly service: { readonly name: string; readonly port: string };
}

/** networking.k8s.io/v1 Ingress, what sless writes of it. */
export interface Ingress extends ApiObject {
  spec: {
    ingressClassName?: string;
    rules: readonly object[];
    tls?: readonly object[];
  };
}

const COMPONENT = "route";

/** Selects the Ingresses of routes. */
export const ROUTE_SELECTOR = `${MANAGED_SELECTOR},${CHILD_LABELS.component}=${COMPONENT}`;

/** Unique over all namespaces and at most 63 characters: names of functions have up to 52. */
export function ingressName({ namespace, name }: ObjectKey): string {
  const hash = createHash("sha256").update(`${namespace}/${name}`).digest("hex").slice(0, 10);
  return `${name}-${hash}`;
}

/** The Ingress that leads all of a target's host to the gateway. Pure. */
export function ingressOf(target: ObjectKey, settings: IngressSettings): Ingress {
  const { namespace, className, tlsSecret, service } = settings;
  const host = settings.hostOf(target);
  const backend = { service: { name: service.name, port: { name: service.port } } };
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: {
      name: ingressName(target),
      namespace,
      labels: {
        [CHILD_LABELS.managedBy]: MANAGED_BY,
        [CHILD_LABELS.component]: COMPONENT,
        [CHILD_LABELS.namespace]: target.namespace,
        [CHILD_LABELS.workload]: target.name,
      },
    },
    spec: {
      ...(className === undefined ? {} : { ingressClassName: className }),
      rules: [{ host, http: { paths: [{ path: "/", pathType: "Prefix", backend }] } }],
      ...(tlsSecret === undefined ? {} : { tls: [{ hosts: [host], secretName: tlsSecret }] }),
    },
  };
}

/** The target of an Ingress of ours; undefined for a copy under another name. Pure. */
export function targetOf({ metadata }: ApiObject): ObjectKey | undefined {
  const { [CHILD_LABELS.namespace]: namespace, [CHILD_LABELS.workload]: name } = metadata.labels ?? {};
  if (namespace === undefined || name === undefined) return undefined;
  return metadata.name === ingressName({ namespace, name }) ? { namespace, name } : undefined;
}

/** What others add (annotations of an issuer, a default class) is left to them. Pure. */
export function isAsWanted(wanted: Ingress, live: Ingress): boolean {
  const labels = Object.entries(wanted.metadata.labels ?? {});
  const { ingressClassName } = wanted.spec;
  return (
    labels.every(([label, value]) => live.metadata.labels?.[label] === value) &&
    isDeepStrictEqual(live.spec.rules, wanted.spec.rules) &&
    isDeepStrictEqual(live.spec.tls, wanted.spec.tls) &&
    (ingressClassName === undefined || live.spec.ingressClassName === ingressClassName)
  );
}
