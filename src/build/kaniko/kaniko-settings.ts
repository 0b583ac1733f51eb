import type { DnsRule } from "../../tenancy/index.ts";
import type { NamedSecret } from "./docker-secrets.ts";

/** What an installation decides about builds in its cluster. */
export interface KanikoSettings {
  /** Where build Jobs run; nothing else does. Default `sless-builds`. */
  readonly namespace: string;
  /** kaniko's executor, by digest. */
  readonly builderImage: string;
  /** sless itself: pushes what was built. */
  readonly slessImage: string;
  /** The registry that images of functions are in. */
  readonly registry: {
    readonly host: string;
    /** Default false. */
    readonly plainHttp?: boolean;
    /** Host that answers for docker.io. */
    readonly mirror?: string | undefined;
    /** Docker config that may push; commands of a build never see it. Without one the registry asks for none. */
    readonly pushSecret?: NamedSecret | undefined;
    /** One that may only pull: commands of a build can read it. Without one base images are pulled without credentials. */
    readonly pullSecret?: NamedSecret | undefined;
  };
  /** Builds at the same time, in all and of one tenant. Default 4 and 2. */
  readonly concurrency: number;
  readonly concurrencyPerTenant: number;
  /** Of a build's pod. Default 512 MiB asked for and 2048 as the limit, 250 and 2000 thousandths of a core, 10240 MiB. */
  readonly memoryRequestMB: number;
  readonly memoryMB: number;
  readonly cpuRequestMilli: number;
  readonly cpuMilli: number;
  /** Of all that a build writes: base image, context, result. */
  readonly diskMB: number;
  /** Seconds from the Job's start to its end, waiting for a node and for images among them. Default 1200. */
  readonly timeoutSec: number;
  /** Seconds that an ended Job and its output are kept. Default a day. */
  readonly keptSec: number;
  /** Seconds after which it is told that no node takes a build: an autoscaler may be bringing one. Default 10. */
  readonly unschedulableSec: number;
  /** Further flags of the executor. Default `--image-format=oci`, which the active fork has. */
  readonly builderFlags: readonly string[];
  /** Variables of the containers that run sless, such as those of a proxy. */
  readonly env: Readonly<Record<string, string>>;
  /** `hard` of a ResourceQuota in the build namespace. */
  readonly quota?: Readonly<Record<string, string>> | undefined;
  /** Networks inside private ranges that builds may reach: registry, object store, package mirrors. */
  readonly egressAllowed: readonly string[];
  /** Public networks that they may not. */
  readonly egressDenied: readonly string[];
  /** Namespaces whose pods they may reach, where the registry or the object store runs in the cluster. */
  readonly egressNamespaces: readonly string[];
  /** How they ask the cluster's DNS, as `egress` of a NetworkPolicy; default: as in most clusters. */
  readonly dns?: readonly DnsRule[] | undefined;
}

export const KANIKO_DEFAULTS = {
  namespace: "sless-builds",
  concurrency: 4,
  concurrencyPerTenant: 2,
  memoryRequestMB: 512,
  memoryMB: 2048,
  cpuRequestMilli: 250,
  cpuMilli: 2000,
  diskMB: 10_240,
  timeoutSec: 1_200,
  keptSec: 24 * 60 * 60,
  unschedulableSec: 10,
  builderFlags: ["--image-format=oci"],
  env: {},
  egressAllowed: [],
  egressDenied: [],
  egressNamespaces: [],
} as const satisfies Partial<KanikoSettings>;

/** What has no default must be given. */
export type KanikoOptions = Partial<KanikoSettings> & Pick<KanikoSettings, "builderImage" | "slessImage" | "registry">;
