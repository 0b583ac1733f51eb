import { parseRegistryHost, parseRegistryPlace, type RegistryPlace } from "./registry-place.ts";
import {
  type Faults,
  oneOf,
  type Parsed,
  parseNames,
  parseNetworks,
  parsePositive,
  parseS3Endpoint,
  parseText,
  type SettingReader,
} from "./setting-reader.ts";

/** `REGISTRY_HOST`, and how it is spoken to. */
export interface RegistrySettings extends RegistryPlace {
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
  /**
   * Of a build's pod: `BUILD_MEMORY_REQUEST`, `BUILD_MEMORY` and `BUILD_DISK` in MiB, `BUILD_CPU_REQUEST` and `BUILD_CPU` in
   * thousandths of a core, `BUILD_TIMEOUT` in seconds; what is not set has the builder's default.
   */
  readonly limits: Readonly<Partial<Record<BuildLimit, number>>>;
  /** `BUILD_EGRESS_ALLOWED`: private networks that builds may reach, such as those of registry and object store. */
  readonly egressAllowed: readonly string[];
  /** `BUILD_EGRESS_NAMESPACES`: namespaces where these run, when that is in the cluster. */
  readonly egressNamespaces: readonly string[];
  /** `BUILDER_FLAGS`: further flags of the executor; undefined: its default. */
  readonly builderFlags: readonly string[] | undefined;
  /** `REGISTRY_PULL_SECRET`: a docker config that may only pull; commands of a build can read it. */
  readonly pullSecret: string | undefined;
}

/** By the names that the builder has for them. */
const BUILD_LIMITS = {
  memoryRequestMB: "BUILD_MEMORY_REQUEST",
  memoryMB: "BUILD_MEMORY",
  cpuRequestMilli: "BUILD_CPU_REQUEST",
  cpuMilli: "BUILD_CPU",
  diskMB: "BUILD_DISK",
  timeoutSec: "BUILD_TIMEOUT",
} as const;
export type BuildLimit = keyof typeof BUILD_LIMITS;

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

export type Read = SettingReader<never>;

export function textOf(read: Read, name: string): string | undefined {
  return read<string | undefined>(name, undefined, parseText, undefined);
}

export function isTrue(read: Read, name: string, fallback = false): boolean {
  return read(name, undefined, oneOf(["true", "false"]), fallback ? "true" : "false") === "true";
}

export function readRegistry(read: Read): RegistrySettings | undefined {
  const place = read<RegistryPlace | undefined>("REGISTRY_HOST", undefined, parseRegistryPlace, undefined);
  const others = {
    secret: textOf(read, "REGISTRY_SECRET"),
    plainHttp: isTrue(read, "REGISTRY_PLAIN_HTTP"),
    mirror: read<string | undefined>("REGISTRY_MIRROR", undefined, parseRegistryHost, undefined),
  };
  return place && Object.freeze({ ...place, ...others });
}

export function readBuilds(read: Read, faults: Faults): BuildSettings | undefined {
  const builderImage = textOf(read, "BUILDER_IMAGE");
  const slessImage = textOf(read, "SLESS_IMAGE");
  const flags = read<readonly string[] | undefined>("BUILDER_FLAGS", undefined, parseNames, undefined);
  const others = {
    namespace: textOf(read, "BUILD_NAMESPACE") ?? "sless-builds",
    concurrency: read("BUILD_CONCURRENCY", undefined, parsePositive, 4),
    concurrencyPerTenant: read("BUILD_CONCURRENCY_PER_TENANT", undefined, parsePositive, 2),
    limits: readBuildLimits(read),
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

function readBuildLimits(read: Read): BuildSettings["limits"] {
  const limits = Object.entries(BUILD_LIMITS).map(([limit, variable]) => [
    limit,
    read<number | undefined>(variable, undefined, parsePositive, undefined),
  ]);
  return Object.freeze(Object.fromEntries(limits.filter(([, value]) => value !== undefined)));
}

/** Amazon's rule is stricter; other servers take capitals and underscores, and access points have an ARN for a name. */
function parseBucket(text: string): Parsed<string> {
  if (/^[a-z0-9][a-z0-9._-]{0,254}$/i.test(text) || /^arn:[a-z0-9:/._-]+$/i.test(text)) return { value: text };
  return {
    fault: `"${text.slice(0, 100)}" is no name of a bucket: write for example sless, without s3:// and without a path`,
  };
}

export function readS3(read: Read, faults: Faults): S3Settings | undefined {
  const bucket = read<string | undefined>("S3_BUCKET", undefined, parseBucket, undefined);
  const endpoint = read<string | undefined>("S3_ENDPOINT", undefined, parseS3Endpoint, undefined);
  const accessKeyId = textOf(read, "S3_ACCESS_KEY");
  const secretAccessKey = textOf(read, "S3_SECRET_KEY");
  const region = textOf(read, "S3_REGION") ?? "us-east-1";
  const forcePathStyle = isTrue(read, "S3_FORCE_PATH_STYLE", endpoint !== undefined);
  if ((accessKeyId === undefined) !== (secretAccessKey === undefined))
    faults.push(
      "S3_ACCESS_KEY and S3_SECRET_KEY go together: set both, or none to use those that the pod or machine has",
    );
  if (bucket === undefined) {
    if (endpoint !== undefined)
      faults.push("S3_ENDPOINT is set and S3_BUCKET is not: name the bucket (of sless dev: --s3-bucket)");
    return undefined;
  }
  const credentials =
    accessKeyId !== undefined && secretAccessKey !== undefined ? { accessKeyId, secretAccessKey } : undefined;
  return Object.freeze({ bucket, endpoint, region, credentials, forcePathStyle });
}
