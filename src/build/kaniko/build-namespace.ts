import { isIP } from "node:net";
import { CHILD_LABELS, MANAGED_BY } from "../../apis/index.ts";
import {
  API_RESOURCES,
  type ApiObject,
  type ApiResource,
  apiPath,
  apiVersionOf,
  isApiError,
  type KubernetesClient,
} from "../../kubernetes/index.ts";
import {
  type ApiServerAddress,
  applyObject,
  dnsRules,
  egressRules,
  isAsWanted,
  readApiServerAddresses,
  type Wanted,
} from "../../tenancy/index.ts";
import { DOCKER_CONFIG_KEY, type DockerSecret, dockerConfigIn, type NamedSecret, onlyHost } from "./docker-secrets.ts";
import type { KanikoSettings } from "./kaniko-settings.ts";

/** Names of the copies of the registry's secrets in the build namespace; undefined where there is none. */
export interface BuildSecrets {
  readonly pushSecret: string | undefined;
  readonly pullSecret: string | undefined;
}

const NAME = "sless-builds";
const ENFORCE = "pod-security.kubernetes.io/enforce";
const LABELS = { [CHILD_LABELS.managedBy]: MANAGED_BY };

/** The namespace in which builds run, as sless makes it. Pure. */
export function buildNamespaceOf({ namespace }: Pick<KanikoSettings, "namespace">): Wanted {
  const labels = {
    ...LABELS,
    [ENFORCE]: "baseline",
    "pod-security.kubernetes.io/enforce-version": "latest",
    "pod-security.kubernetes.io/warn": "baseline",
  };
  return wanted("Namespace", { name: namespace, labels });
}

/**
 * What must stand in it before anything runs there: nothing comes in; out go questions to the cluster's DNS, and what
 * fetches packages, files and images. Neither the API server, nor a cloud's metadata, nor a tenant is reached. Pure.
 */
export function buildPoliciesOf(settings: KanikoSettings, apiServer: readonly ApiServerAddress[]): Wanted[] {
  const metadata = { name: NAME, namespace: settings.namespace, labels: LABELS };
  const { quota } = settings;
  return [
    wanted("NetworkPolicy", metadata, { spec: networkPolicy(settings, apiServer) }),
    ...(quota ? [wanted("ResourceQuota", metadata, { spec: { hard: quota } })] : []),
  ];
}

function networkPolicy(settings: KanikoSettings, apiServer: readonly ApiServerAddress[]): object {
  const { registry, egressAllowed, egressDenied, egressNamespaces } = settings;
  const registries = [registry.host, registry.mirror ?? ""].map(addressIn).filter((address) => address !== undefined);
  const namespaced = (name: string) => ({
    namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": name } },
  });
  return {
    podSelector: {},
    policyTypes: ["Ingress", "Egress"],
    egress: [
      ...dnsRules(settings.dns),
      ...egressRules({ denied: egressDenied, allowed: [...egressAllowed, ...registries], apiServer }),
      ...(egressNamespaces.length > 0 ? [{ to: egressNamespaces.map(namespaced) }] : []),
    ],
  };
}

/** Policies know no names: a registry that is named by its address is allowed by itself. */
function addressIn(host: string): string | undefined {
  const name = host.replace(/:\d+$/, "").replace(/^\[(.*)\]$/, "$1");
  return isIP(name) === 0 ? undefined : name;
}

function wanted(
  kind: "Namespace" | "NetworkPolicy" | "ResourceQuota" | "Secret",
  metadata: ApiObject["metadata"],
  rest: object = {},
): Wanted {
  const resource = API_RESOURCES[kind];
  return { resource, object: { apiVersion: apiVersionOf(resource), kind, metadata, ...rest } };
}

export interface NamespaceOptions {
  readonly client: KubernetesClient;
  readonly settings: KanikoSettings;
  readonly log: { warn(fields: object, message: string): void };
}

/**
 * Brings the build namespace up to date, and the copies of the registry's secrets in it. What is as wanted is not
 * written. A namespace that sless did not make keeps its labels.
 *
 * @throws ApiError; SlessError `cluster_unavailable`
 */
export async function ensureBuildNamespace(options: NamespaceOptions): Promise<BuildSecrets> {
  const { client, settings, log } = options;
  const namespace = buildNamespaceOf(settings);
  const live = await read(client, namespace.resource, namespace.object.metadata);
  const isOurs = !live || live.metadata.labels?.[CHILD_LABELS.managedBy] === MANAGED_BY;
  if (isOurs && !isAsWanted(namespace, live)) await applyObject(client, namespace);
  else if (!isOurs && live.metadata.labels?.[ENFORCE] === undefined)
    log.warn({ namespace: settings.namespace, label: ENFORCE }, "the build namespace enforces no Pod Security level");
  const apiServer = await readApiServerAddresses(client);
  for (const policy of buildPoliciesOf(settings, apiServer)) await bring(client, policy);
  const { host, pushSecret, pullSecret } = settings.registry;
  return {
    pushSecret: await copySecret("sless-push", pushSecret, (config) => onlyHost(config, host), options),
    pullSecret: await copySecret("sless-pull", pullSecret, (config) => config, options),
  };
}

async function bring(client: KubernetesClient, object: Wanted): Promise<void> {
  const live = await read(client, object.resource, object.object.metadata);
  if (!isAsWanted(object, live)) await applyObject(client, object);
}

async function copySecret(
  name: string,
  original: NamedSecret | undefined,
  part: (dockerConfig: string) => string | undefined,
  { client, settings, log }: NamespaceOptions,
): Promise<string | undefined> {
  if (!original) return undefined;
  const found = await read<DockerSecret>(client, API_RESOURCES.Secret, original);
  const config = found && dockerConfigIn(found);
  const copied = config === undefined ? undefined : part(config);
  if (copied === undefined) {
    log.warn(
      { ...original, host: settings.registry.host },
      "the registry's secret is not there, or says nothing of it",
    );
    return undefined;
  }
  const data = { [DOCKER_CONFIG_KEY]: Buffer.from(copied).toString("base64") };
  const metadata = { name, namespace: settings.namespace, labels: LABELS };
  await bring(client, wanted("Secret", metadata, { type: "kubernetes.io/dockerconfigjson", data }));
  return name;
}

async function read<T extends ApiObject>(
  client: KubernetesClient,
  resource: ApiResource,
  { namespace, name }: { readonly namespace?: string; readonly name: string },
): Promise<T | undefined> {
  try {
    return await client.request<T>({ method: "GET", path: apiPath(resource, { namespace, name }) });
  } catch (error) {
    if (isApiError(error, 404)) return undefined;
    throw error;
  }
}
