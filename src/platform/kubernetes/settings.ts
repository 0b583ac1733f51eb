/** What an installation decides about the pods of its functions. */
export interface PlatformSettings {
  /**
   * The registry that images are pulled from, and the docker config Secret to pull with: the one for pulling only where
   * there is one. What it says of `host`, and nothing else of it, is copied into the deploy namespaces.
   */
  readonly registry?: {
    readonly host: string;
    readonly secret: { readonly namespace: string; readonly name: string };
  };
  /** Of a sandbox such as gVisor. */
  readonly runtimeClassName?: string;
  /** CPU that a pod asks for, in thousandths of a core per GiB of its memory. */
  readonly cpuMilliPerGiB: number;
  /** CPU that it may not exceed, likewise; without it there is no limit, so that idle cores are used. */
  readonly cpuLimitMilliPerGiB?: number;
  /** Size of `/tmp` in MiB, beyond which a pod is evicted. */
  readonly tmpMB: number;
  /** User and group of every pod; never 0. */
  readonly runAsUser: number;
  /** Seconds from the start of a container to its first healthy answer. */
  readonly startDeadlineSec: number;
  /** Seconds in which gateways learn that a pod goes, before it is told to end. */
  readonly preStopSec: number;
  /** Seconds that calls in flight have where the workload sets no limit. */
  readonly unlimitedDrainSec: number;
  /** Seconds that a job's pod may take to be scheduled and to pull its image, beside the job's own limit. */
  readonly jobStartSec: number;
  /** Seconds that a Job and its log are kept after it ended. */
  readonly jobKeptSec: number;
  /** Seconds after which a pod that no node takes is told as a failure: an autoscaler may be bringing a node. */
  readonly unschedulableSec: number;
}

export const DEFAULT_SETTINGS: PlatformSettings = {
  cpuMilliPerGiB: 250,
  tmpMB: 512,
  runAsUser: 65_532,
  startDeadlineSec: 60,
  preStopSec: 5,
  unlimitedDrainSec: 30,
  jobStartSec: 300,
  jobKeptSec: 24 * 60 * 60,
  unschedulableSec: 30,
};
