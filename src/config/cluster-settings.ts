import { SlessError } from "../errors/index.ts";
import type { Environment } from "./build-environment.ts";
import {
  type Faults,
  oneOf,
  type Parsed,
  parseEndpoint,
  parseNetworks,
  parsePort,
  parseText,
  type SettingReader,
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
  readonly tenant: {
    /** `TENANT_QUOTA`: `hard` of every deploy namespace's ResourceQuota, as JSON. */
    readonly quota: Readonly<Record<string, string>> | undefined;
    /** `TENANT_LIMITS`: `limits` of its LimitRange, as JSON. */
    readonly limits: readonly Readonly<Record<string, unknown>>[] | undefined;
    /** `TENANT_EGRESS_DENIED`, `TENANT_EGRESS_ALLOWED`: networks that functions may not, or may, reach. */
    readonly egressDenied: readonly string[];
    readonly egressAllowed: readonly string[];
    /** `RUNTIME_CLASS_NAME`, for example `gvisor`. */
    readonly runtimeClassName: string | undefined;
  };
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

export interface RegistrySettings {
  /** `REGISTRY_HOST`, with its port. */
  readonly host: string;
  /** `REGISTRY_SECRET`: a docker config Secret in the pod's namespace. */
  readonly secret: string | undefined;
  /** `REGISTRY_PLAIN_HTTP`, default false: without TLS. */
  readonly plainHttp: boolean;
  /** `REGISTRY_MIRROR`: host that answers for docker.io. */
  readonly mirror: string | undefined;
}

export interface BuildSettings {
  /** `BUILDER_IMAGE`: kaniko's executor, by digest. */
  readonly builderImage: string;
  /** `SLESS_IMAGE`: sless itself, which pushes what was built. */
  readonly slessImage: string;
  /** `BUILD_NAMESPACE`, default `sless-builds`. */
  readonly namespace: string;
  /** `BUILD_CONCURRENCY`, `BUILD_CONCURRENCY_PER_TENANT`, default 4 and 2. */
  readonly concurrency: number;
  readonly concurrencyPerTenant: number;
  /** `BUILD_EGRESS_ALLOWED`: private networks that builds may reach, such as those of registry and object store. */
  readonly egressAllowed: readonly string[];
  /** `BUILD_EGRESS_NAMESPACES`: namespaces where these run, when that is in the cluster. */
  readonly egressNamespaces: readonly string[];
  /** `BUILDER_FLAGS`: further flags of the executor; undefined: its default. */
  readonly builderFlags: readonly string[] | undefined;
  /** `REGISTRY_PULL_SECRET`: a docker config that may only pull; commands of a build can read it. */
  readonly pullSecret: string | undefined;
}

export interface S3Settings {
  /** `S3_BUCKET`. */
  readonly bucket: string;
  /** `S3_ENDPOINT`; undefined: AWS. */
  readonly endpoint: string | undefined;
  /** `S3_REGION`, default `us-east-1`. */
  readonly region: string;
  /** `S3_ACCESS_KEY`, `S3_SECRET_KEY`; undefined: the pod's own role. */
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined;
  /** `S3_FORCE_PATH_STYLE`, default: true where an endpoint is given. */
  readonly forcePathStyle: boolean;
}

export const DEFAULT_INTERNAL_PORT = 9091;
const DEFAULT_TOKEN_FILE = "/var/run/secrets/sless.kube5s.ru/gateway/token";

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
    authMode: read("AUTH_MODE", undefined, oneOf(AUTH_MODES), "kubernetes"),
    gateway: Object.freeze({
      url: read<string | undefined>("GATEWAY_URL", undefined, parseEndpoint, undefined),
      tokenFile: text("GATEWAY_TOKEN_FILE") ?? DEFAULT_TOKEN_FILE,
      callers: read("GATEWAY_CALLERS", undefined, parseNames, []),
      trustForwarded: isTrue(read, "TRUST_FORWARDED"),
    }),
    tenant: Object.freeze({
      quota: read("TENANT_QUOTA", undefined, parseQuota, undefined),
      limits: read("TENANT_LIMITS", undefined, parseLimits, undefined),
      egressDenied: read("TENANT_EGRESS_DENIED", undefined, parseNetworks, []),
      egressAllowed: read("TENANT_EGRESS_ALLOWED", undefined, parseNetworks, []),
      runtimeClassName: text("RUNTIME_CLASS_NAME"),
    }),
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

type Read = SettingReader<never>;

function textOf(read: Read, name: string): string | undefined {
  return read<string | undefined>(name, undefined, parseText, undefined);
}

function isTrue(read: Read, name: string, fallback = false): boolean {
  return read(name, undefined, oneOf(["true", "false"]), fallback ? "true" : "false") === "true";
}

function readRegistry(read: Read): RegistrySettings | undefined {
  const host = textOf(read, "REGISTRY_HOST");
  const others = {
    secret: textOf(read, "REGISTRY_SECRET"),
    plainHttp: isTrue(read, "REGISTRY_PLAIN_HTTP"),
    mirror: textOf(read, "REGISTRY_MIRROR"),
  };
  return host === undefined ? undefined : Object.freeze({ host, ...others });
}

function readBuilds(read: Read, faults: Faults): BuildSettings | undefined {
  const builderImage = textOf(read, "BUILDER_IMAGE");
  const slessImage = textOf(read, "SLESS_IMAGE");
  const flags = read<readonly string[] | undefined>("BUILDER_FLAGS", undefined, parseNames, undefined);
  const others = {
    namespace: textOf(read, "BUILD_NAMESPACE") ?? "sless-builds",
    concurrency: read("BUILD_CONCURRENCY", undefined, parsePositive, 4),
    concurrencyPerTenant: read("BUILD_CONCURRENCY_PER_TENANT", undefined, parsePositive, 2),
    egressAllowed: read("BUILD_EGRESS_ALLOWED", undefined, parseNetworks, []),
    egressNamespaces: read("BUILD_EGRESS_NAMESPACES", undefined, parseNames, []),
    builderFlags: flags,
    pullSecret: textOf(read, "REGISTRY_PULL_SECRET"),
  };
  if (builderImage === undefined) return undefined;
  if (slessImage !== undefined) return Object.freeze({ builderImage, slessImage, ...others });
  faults.push("BUILDER_IMAGE is set and SLESS_IMAGE is not: name the image of sless, which pushes what was built");
  return undefined;
}

function readS3(read: Read, faults: Faults): S3Settings | undefined {
  const bucket = textOf(read, "S3_BUCKET");
  const endpoint = read<string | undefined>("S3_ENDPOINT", undefined, parseEndpoint, undefined);
  const accessKeyId = textOf(read, "S3_ACCESS_KEY");
  const secretAccessKey = textOf(read, "S3_SECRET_KEY");
  const region = textOf(read, "S3_REGION") ?? "us-east-1";
  const forcePathStyle = isTrue(read, "S3_FORCE_PATH_STYLE", endpoint !== undefined);
  if ((accessKeyId === undefined) !== (secretAccessKey === undefined))
    faults.push("S3_ACCESS_KEY and S3_SECRET_KEY go together: set both, or none to use the pod's own role");
  if (bucket === undefined) {
    if (endpoint !== undefined) faults.push("S3_ENDPOINT is set and S3_BUCKET is not: name the bucket");
    return undefined;
  }
  const credentials =
    accessKeyId !== undefined && secretAccessKey !== undefined ? { accessKeyId, secretAccessKey } : undefined;
  return Object.freeze({ bucket, endpoint, region, credentials, forcePathStyle });
}

function parsePositive(text: string): Parsed<number> {
  const value = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  return value > 0 ? { value } : { fault: `"${text}" is no whole number above 0` };
}

function parseHost(text: string): Parsed<string> {
  return /^(?=.{1,200}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(text)
    ? { value: text }
    : { fault: `"${text}" is no host name: write for example fn.example.org` };
}

function parseNames(text: string): Parsed<readonly string[]> {
  return { value: Object.freeze(text.split(/[\s,]+/).filter(Boolean)) };
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
