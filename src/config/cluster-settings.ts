import { SlessError } from "../errors/index.ts";
import type { Environment } from "./build-environment.ts";
import { type GarbageSettings, readGarbage } from "./garbage-settings.ts";
import {
  type BuildSettings,
  isTrue,
  type RegistrySettings,
  readBuilds,
  readRegistry,
  readS3,
  type S3Settings,
} from "./image-settings.ts";
import {
  type Faults,
  oneOf,
  type Parsed,
  parseEndpoint,
  parseNames,
  parseNetworks,
  parsePort,
  parsePositive,
  parseText,
  settingReader,
} from "./setting-reader.ts";
import { LOG_FORMATS, LOG_LEVELS, type Settings } from "./settings.ts";

export const AUTH_MODES = ["kubernetes"] as const;
export type AuthMode = (typeof AUTH_MODES)[number];

/** What the processes on a cluster take from their environment beside `Settings`; the chart sets it. Frozen. */
export interface ClusterSettings {
  /** Of `/fn`, `/v1`, health and metrics. `PORT`, default 9090. */
  readonly port: number;
  /** The gateway's port for internal callers. `INTERNAL_PORT`, default 9091. */
  readonly internalPort: number;
  /** File of the kubeconfig, or the pod's service account. `KUBECONFIG`, else in-cluster. */
  readonly kubeconfig: { readonly file: string } | "in-cluster";
  /** Requests to the API server per second on the average and at once. `KUBE_API_QPS`, `KUBE_API_BURST`, default 500 and 1000. */
  readonly api: { readonly perSecond: number; readonly burst: number };
  /** Namespace in which sless itself runs, and the name of this pod. `POD_NAMESPACE`, default `sless`; `POD_NAME`. */
  readonly pod: { readonly namespace: string; readonly name: string };
  /** Origin and path under which the world reaches the gateway. `EXTERNAL_URL`, without a final slash. */
  readonly externalUrl: string | undefined;
  /** Hosts `{name}.{namespace}.<host>` for http triggers when there is no `EXTERNAL_URL`. `INGRESS_HOST`, `INGRESS_CLASS`, `INGRESS_TLS_SECRET`. */
  readonly ingress:
    | { readonly host: string; readonly className: string | undefined; readonly tlsSecret: string | undefined }
    | undefined;
  /** Where images go and come from; undefined without `REGISTRY_HOST`. */
  readonly registry: RegistrySettings | undefined;
  /** What must be installed or compiled is built in Jobs of their own; undefined without `BUILDER_IMAGE`. */
  readonly builds: BuildSettings | undefined;
  /** Where sources go; undefined without `S3_BUCKET`: into the data folder. */
  readonly s3: S3Settings | undefined;
  readonly garbage: GarbageSettings;
  /** `AUTH_MODE`, default and only one: `kubernetes`. There is no mode in which `/v1` is open. */
  readonly authMode: AuthMode;
  readonly gateway: {
    /** Internal port of the gateway, for other roles. `GATEWAY_URL`. */
    readonly url: string | undefined;
    /** File of the token that they show there. `GATEWAY_TOKEN_FILE`. */
    readonly tokenFile: string;
    /** User names that may call there. `GATEWAY_CALLERS`, with commas between them. */
    readonly callers: readonly string[];
    /** A proxy in front of the public port sets `X-Forwarded-*`. `TRUST_FORWARDED`, default false. */
    readonly trustForwarded: boolean;
  };
  readonly controller: {
    /** On which a controller that leads answers the api. `CONTROLLER_PORT`, default 9092. */
    readonly port: number;
    /** File of the token that the api shows there. `CONTROLLER_TOKEN_FILE`. */
    readonly tokenFile: string;
    /** Usernames that it lets in. `CONTROLLER_CALLERS`, comma-separated. */
    readonly callers: readonly string[];
  };
  readonly tenant: {
    /** `TENANT_QUOTA`: `hard` of every deploy namespace's ResourceQuota, as JSON. */
    readonly quota: Readonly<Record<string, string>> | undefined;
    /** `TENANT_LIMITS`: `limits` of its LimitRange, as JSON. */
    readonly limits: readonly Readonly<Record<string, unknown>>[] | undefined;
    /** `TENANT_OBJECTS`: `hard` of a ResourceQuota in every user's namespace that sless makes, as JSON. */
    readonly objects: Readonly<Record<string, string>> | undefined;
    /** `TENANT_EGRESS_DENIED`, `TENANT_EGRESS_ALLOWED`: networks that functions may not, or may, reach. */
    readonly egressDenied: readonly string[];
    readonly egressAllowed: readonly string[];
    /** `RUNTIME_CLASS_NAME`, for example `gvisor`. */
    readonly runtimeClassName: string | undefined;
  };
  /** `CLUSTER_DNS`: how functions and builds ask the cluster's DNS, as JSON of `egress` of a NetworkPolicy. */
  readonly dns: readonly Readonly<Record<string, unknown>>[] | undefined;
  /** Folder for mirrors and uploads. `SLESS_DATA`, default `/var/lib/sless`. */
  readonly data: string;
  /** Address to listen on. `LISTEN_ADDRESS`, default `0.0.0.0`. */
  readonly listenAddress: string;
  /** Folders in which git is looked for. */
  readonly path: string;
  /** As of `Settings`. */
  readonly gitNetworks: readonly string[];
  readonly log: Settings["log"];
}

export const DEFAULT_INTERNAL_PORT = 9091;
const DEFAULT_CONTROLLER_PORT = 9092;
const tokenFileFor = (audience: string) => `/var/run/secrets/sless.kube5s.ru/${audience}/token`;

/**
 * Reads the environment of a process on a cluster; an empty variable counts as unset.
 *
 * @throws SlessError `settings_invalid` that lists every fault with the name of its variable; values of secrets are not shown
 */
export function readClusterSettings(env: Environment): ClusterSettings {
  const faults: string[] = [];
  const read = settingReader<never>(env, {}, faults);
  const text = (name: string) => read<string | undefined>(name, undefined, parseText, undefined);
  const ingressHost = read<string | undefined>("INGRESS_HOST", undefined, parseHost, undefined);
  const settings: ClusterSettings = {
    port: read("PORT", undefined, parsePort, 9090),
    internalPort: read("INTERNAL_PORT", undefined, parsePort, DEFAULT_INTERNAL_PORT),
    kubeconfig: kubeconfigOf(env, faults),
    api: Object.freeze({
      perSecond: read("KUBE_API_QPS", undefined, parsePositive, 500),
      burst: read("KUBE_API_BURST", undefined, parsePositive, 1_000),
    }),
    pod: Object.freeze({ namespace: text("POD_NAMESPACE") ?? "sless", name: text("POD_NAME") ?? "sless" }),
    externalUrl: read<string | undefined>("EXTERNAL_URL", undefined, parseEndpoint, undefined),
    ingress:
      ingressHost === undefined
        ? undefined
        : Object.freeze({ host: ingressHost, className: text("INGRESS_CLASS"), tlsSecret: text("INGRESS_TLS_SECRET") }),
    registry: readRegistry(read),
    builds: readBuilds(read, faults),
    s3: readS3(read, faults),
    garbage: readGarbage(read),
    authMode: read("AUTH_MODE", undefined, oneOf(AUTH_MODES), "kubernetes"),
    gateway: Object.freeze({
      url: read<string | undefined>("GATEWAY_URL", undefined, parseEndpoint, undefined),
      tokenFile: text("GATEWAY_TOKEN_FILE") ?? tokenFileFor("gateway"),
      callers: read("GATEWAY_CALLERS", undefined, parseNames, []),
      trustForwarded: isTrue(read, "TRUST_FORWARDED"),
    }),
    controller: Object.freeze({
      port: read("CONTROLLER_PORT", undefined, parsePort, DEFAULT_CONTROLLER_PORT),
      tokenFile: text("CONTROLLER_TOKEN_FILE") ?? tokenFileFor("controller"),
      callers: read("CONTROLLER_CALLERS", undefined, parseNames, []),
    }),
    tenant: Object.freeze({
      quota: read("TENANT_QUOTA", undefined, parseQuota, undefined),
      limits: read("TENANT_LIMITS", undefined, parseLimits, undefined),
      objects: read("TENANT_OBJECTS", undefined, parseQuota, undefined),
      egressDenied: read("TENANT_EGRESS_DENIED", undefined, parseNetworks, []),
      egressAllowed: read("TENANT_EGRESS_ALLOWED", undefined, parseNetworks, []),
      runtimeClassName: text("RUNTIME_CLASS_NAME"),
    }),
    dns: read("CLUSTER_DNS", undefined, parseDns, undefined),
    data: text("SLESS_DATA") ?? "/var/lib/sless",
    listenAddress: text("LISTEN_ADDRESS") ?? "0.0.0.0",
    path: env.PATH ?? "",
    gitNetworks: read("SLESS_GIT_NETWORKS", undefined, parseNetworks, []),
    log: Object.freeze({
      level: read("LOG_LEVEL", undefined, oneOf(LOG_LEVELS), "info"),
      format: read("LOG_FORMAT", undefined, oneOf(LOG_FORMATS), "json"),
    }),
  };
  if (faults.length > 0) throw new SlessError("settings_invalid", { cause: faults.join("; ") });
  return Object.freeze(settings);
}

function kubeconfigOf(env: Environment, faults: Faults): ClusterSettings["kubeconfig"] {
  if (env.KUBECONFIG) return Object.freeze({ file: env.KUBECONFIG });
  if (env.KUBERNETES_SERVICE_HOST) return "in-cluster";
  faults.push("KUBECONFIG is not set and this is no pod of a cluster: name the kubeconfig to use");
  return "in-cluster";
}

function parseHost(text: string): Parsed<string> {
  return /^(?=.{1,200}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(text)
    ? { value: text }
    : { fault: `"${text}" is no host name: write for example fn.example.org` };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function parseQuota(text: string): Parsed<Readonly<Record<string, string>>> {
  const value = parseJson(text);
  const isQuota =
    value !== null &&
    typeof value === "object" &&
    !Array.isArray(value) &&
    Object.values(value).every((amount) => typeof amount === "string" || typeof amount === "number");
  if (!isQuota) return { fault: 'is no JSON object of amounts: write for example {"pods":"50"}' };
  const amounts = Object.entries(value).map(([name, amount]) => [name, String(amount)]);
  return { value: Object.freeze(Object.fromEntries(amounts) as Record<string, string>) };
}

function parseLimits(text: string): Parsed<readonly Readonly<Record<string, unknown>>[]> {
  const value = parseJson(text);
  const isList = Array.isArray(value) && value.every((one) => one !== null && typeof one === "object");
  return isList
    ? { value: value as readonly Record<string, unknown>[] }
    : { fault: 'is no JSON list of limits: write for example [{"type":"Container","max":{"memory":"1Gi"}}]' };
}

/** A rule that does not say where to, or which port, would open everything. */
function parseDns(text: string): Parsed<readonly Readonly<Record<string, unknown>>[]> {
  const value = parseJson(text);
  const isFilled = (list: unknown) => Array.isArray(list) && list.length > 0;
  const isRule = (rule: unknown) => {
    const { to, ports } = (rule ?? {}) as { to?: unknown; ports?: unknown };
    return isFilled(to) && isFilled(ports);
  };
  return isFilled(value) && (value as unknown[]).every(isRule)
    ? { value: value as readonly Record<string, unknown>[] }
    : {
        fault:
          'is no JSON list of rules with "to" and "ports": write for example ' +
          '[{"to":[{"ipBlock":{"cidr":"169.254.20.10/32"}}],"ports":[{"port":53,"protocol":"UDP"}]}]',
      };
}
