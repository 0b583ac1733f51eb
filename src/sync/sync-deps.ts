import type { ObjectOf } from "../apis/index.ts";
import type { TimerClock } from "../controller/index.ts";
import type { DesiredLimits, DesiredReaderOptions } from "../desired/index.ts";
import type { SlessError } from "../errors/index.ts";
import type { Reporter } from "../report/index.ts";
import type { ResourceStore } from "../resources/index.ts";
import type { GitReader } from "../source/index.ts";
import type { ObjectStore } from "../storage/index.ts";
import type { LiveReads } from "./live-reads.ts";
import type { SyncMemory } from "./sync-memory.ts";

export interface SyncDeps {
  readonly store: ResourceStore;
  readonly objects: ObjectStore;
  /** Bucket of `objects`, where it has buckets; stands in the objects as `s3Bucket`. */
  readonly s3Bucket?: string;
  /**
   * Opens the repository that `spec.url` names. What it returns is kept open from run to run and closed by sync.
   *
   * @throws SlessError `repository_unreachable`, `repository_unsupported`, `repository_url_invalid`
   */
  openGit(repository: ObjectOf<"Repository">): Promise<GitReader>;
  /**
   * Why no webhook of the repository can be let in although its spec names a secret; undefined when it can. Default: that
   * is not looked at, and the status does not say.
   */
  webhookFault?(repository: ObjectOf<"Repository">): Promise<SlessError | undefined>;
  readonly runtimes: DesiredReaderOptions["runtimes"];
  readonly clock: TimerClock;
  readonly report: Reporter;
  /** Lists of live objects; may be behind the store, what a plan would change is read again. */
  readonly reads: LiveReads;
  /** What earlier runs of this process learned; without it every run begins anew and comes to the same. */
  readonly memory: SyncMemory;
  readonly limits?: Partial<DesiredLimits>;
}
