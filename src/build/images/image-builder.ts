import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { WorkloadRef } from "../../apis/index.ts";
import type { TimerClock } from "../../controller/clock.ts";
import { SlessError } from "../../errors/index.ts";
import { isDigest, type RegistryClient } from "../../registry/index.ts";
import type { ArchiveLimits } from "../../source/index.ts";
import type { ObjectStore } from "../../storage/index.ts";
import { buildFailures, failNow } from "../build-failures.ts";
import { toBuildFault } from "../build-fault.ts";
import { buildLogs } from "../build-logs.ts";
import type { Builder } from "../builder.ts";
import { openBuildsInFlight } from "../builds-in-flight.ts";
import { openCommandSlots } from "../command-slots.ts";
import type { ImageJobs } from "../image-jobs.ts";
import { openBaseImages } from "./base-images.ts";
import { type EnsureDeps, ensureImage, type FlightWanted } from "./ensure-image.ts";
import { openJobImages } from "./job-images.ts";
import { keptLogs } from "./kept-logs.ts";
import { madeImages } from "./made-images.ts";
import { rememberingClient } from "./remembering-client.ts";
import { openRenewals, type RenewalSettings } from "./renewals.ts";
import { runBuild } from "./run-build.ts";
import { openServerLayers } from "./server-layers.ts";
import { wantedImages } from "./wanted-images.ts";

const CONCURRENCY = 4;
const BASE_REFRESH_MS = 3_600_000;
const RECHECK_MS = 600_000;
const PLATFORM = `linux/${process.arch === "arm64" ? "arm64" : "amd64"}`;

export interface ImageBuilderOptions {
  /** Sources; logs of builds are kept there too. */
  readonly objects: ObjectStore;
  /** The registry that images of functions are pushed to. */
  readonly registry: RegistryClient;
  /** Stands before every repository there, `team/`. Default none. */
  readonly prefix?: string;
  /** Registries that base images come from, by host; what comes from another host is copied once per digest. */
  readonly clientOf: (host: string) => RegistryClient;
  /** Host that answers for docker.io. */
  readonly mirror?: string | undefined;
  /** Makes what must be installed or compiled; without it such a build fails and says so. */
  readonly jobs?: ImageJobs | undefined;
  readonly clock: TimerClock;
  /** Logs of builds and, while they are read, sources; used by one process at a time, and no loss when it goes with that. */
  readonly folder: string;
  /** Of sless, for the label. */
  readonly version: string;
  /** Of the nodes: `linux/amd64`. Default that of this process. */
  readonly platform?: string;
  /** Does what is in the base image run? Else only what stands on it does, and its platform is nothing. Default true. */
  readonly runsBase?: boolean;
  /** Addresses of proxies and package registries for commands, as variables; no credentials, images show them. */
  readonly addresses?: Readonly<Record<string, string>>;
  /** Of the unpacked source. */
  readonly limits?: ArchiveLimits;
  /** Sources that are unpacked and pushed at the same time. Default 4. */
  readonly concurrency?: number;
  /** How often tags of base images are looked up. Default 1 h. */
  readonly baseRefreshMs?: number;
  /** How fast is made anew what stands on a base image that has changed. */
  readonly renewals?: RenewalSettings;
  /** How long an image is taken to be in the registry once that was seen. Default 10 min. */
  readonly recheckMs?: number;
  /** Hears what an operator should know. */
  readonly notice?: (message: string) => void;
}

export interface ImageBuilder extends Builder {
  /** An image of this digest was removed from the registry. Who has it hears of it, and gets it anew when it asks. */
  forget(digest: string): void;
  /** Ends what is in flight here; jobs go on, and are found again by the next. */
  close(): Promise<void>;
}

/**
 * A Builder for clusters: code is put on top of an image as a layer, through the registry's API; only what must be
 * installed or compiled is built, once for all who have the same.
 */
export function imageBuilder(options: ImageBuilderOptions): ImageBuilder {
  const listeners = new Set<(workload: WorkloadRef) => void>();
  const changed = (workloads: Iterable<WorkloadRef>) => {
    for (const workload of workloads) for (const listener of listeners) listener(workload);
  };
  const closing = new AbortController();
  const deps = openParts(options, changed, closing.signal);
  const { builds, wanted, logs, kept, renewals, registry } = deps;
  let ready: Promise<void> | undefined;
  let isClosed = false;

  return {
    async ensure(request) {
      if (isClosed) throw new SlessError("internal", { cause: "it is shutting down" });
      ready ??= prepareFolder(options.folder);
      try {
        await ready;
      } catch (error) {
        ready = undefined;
        return failNow("folder", toBuildFault(error), request.workload, deps);
      }
      return ensureImage(request, deps);
    },
    async has(imageRef) {
      const at = `${registry.host}/`;
      const [repository, digest, ...rest] = imageRef.slice(at.length).split("@");
      if (!imageRef.startsWith(at) || rest.length > 0 || !repository || !isDigest(digest)) return false;
      const isThere = (await registry.manifestDigest(repository, digest)) !== undefined;
      // Another process removed it.
      if (!isThere) deps.forget(digest);
      return isThere;
    },
    forget: deps.forget,
    async cancel(workload) {
      const before = wanted.get(workload);
      wanted.delete(workload);
      renewals.leave(workload);
      if (before) await builds.leave(before.build, workload);
    },
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async *logs(workload, { follow, signal }) {
      const log = await logs.of(workload);
      const isRunning = builds.get(wanted.get(workload)?.build ?? "") !== undefined;
      // Another process may have led since this one built it last.
      const later = isRunning ? undefined : await kept.fromElsewhere(workload).catch(unless(log));
      if (later) yield later;
      else if (log) yield* log.read({ follow, signal });
    },
    async close() {
      isClosed = true;
      closing.abort(new SlessError("internal", { cause: "it is shutting down" }));
      deps.bases.close();
      renewals.close();
      await builds.close();
      deps.jobImages.close();
      await kept.settled();
    },
  };
}

/** A store that does not answer takes nothing from what is here. */
function unless(log: unknown): (error: unknown) => undefined {
  return (error) => {
    if (!log) throw error;
    return undefined;
  };
}

function openParts(
  options: ImageBuilderOptions,
  changed: (workloads: Iterable<WorkloadRef>) => void,
  closing: AbortSignal,
): EnsureDeps {
  const { clock, folder, objects, version, jobs, notice = () => undefined } = options;
  const { prefix = "", platform = PLATFORM, runsBase = true, addresses = {}, limits = {} } = options;
  const recheckMs = options.recheckMs ?? RECHECK_MS;
  const registry = rememberingClient(options.registry, clock, recheckMs);
  const wanted = wantedImages();
  const made = madeImages();
  const temporary = join(folder, "tmp");
  const jobImages = openJobImages({ jobs, registry, clock, folder: temporary });
  const bases = openBaseImages({
    ...{ registry, prefix, platform, runsBase, clock },
    clientOf: options.clientOf,
    mirror: options.mirror,
    refreshMs: options.baseRefreshMs ?? BASE_REFRESH_MS,
    changed(image) {
      const workloads = wanted.on(image);
      notice(
        `${image} has changed: the images of ${workloads.length} workloads on it are made anew, one after the other`,
      );
      changed(workloads);
    },
  });
  const shared = {
    ...{ objects, registry, prefix, platform, version, limits, clock, made, jobImages, bases, wanted },
    ...{ temporary, closing },
    addresses: withoutCredentials(addresses, notice),
    servers: openServerLayers(),
    slots: openCommandSlots(options.concurrency ?? CONCURRENCY),
    failures: buildFailures(clock),
    logs: buildLogs(join(folder, "logs")),
    kept: keptLogs(objects),
    renewals: openRenewals(options.renewals ?? {}, clock, (workload) => changed([workload])),
    recheckMs,
    forget(digest?: string) {
      for (const memory of [registry, made, jobImages, bases]) memory.forget(digest);
      const workloads = wanted.forget(digest);
      if (digest !== undefined) changed(workloads);
    },
  };
  const builds = openBuildsInFlight<FlightWanted>({
    clock,
    firstStep: "reading the source",
    run: (build, flight, running, step) => runBuild(build, flight, running, step, shared),
    changed,
  });
  return { ...shared, builds };
}

/** What commands are given can be read from the image's history. */
function withoutCredentials(
  addresses: Readonly<Record<string, string>>,
  notice: (message: string) => void,
): Record<string, string> {
  const isSecret = (value: string) => /:\/\/[^\s/]*@/.test(value);
  for (const [name, value] of Object.entries(addresses))
    if (isSecret(value)) notice(`${name} holds credentials, which an image would show: builds do without it`);
  return Object.fromEntries(Object.entries(addresses).filter(([, value]) => !isSecret(value)));
}

/** Drafts of an earlier life go. */
async function prepareFolder(folder: string): Promise<void> {
  await rm(join(folder, "tmp"), { recursive: true, force: true });
  for (const name of ["tmp", "logs"]) await mkdir(join(folder, name), { recursive: true });
}
