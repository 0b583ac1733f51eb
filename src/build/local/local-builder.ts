import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { refText, type WorkloadRef } from "../../apis/index.ts";
import type { Clock } from "../../controller/clock.ts";
import { SlessError } from "../../errors/index.ts";
import type { LocalImage, ProcessSupervisor } from "../../processes/index.ts";
import type { ArchiveLimits } from "../../source/index.ts";
import type { ObjectStore } from "../../storage/index.ts";
import { buildFailures, failNow } from "../build-failures.ts";
import { toBuildFault } from "../build-fault.ts";
import { buildLogs } from "../build-logs.ts";
import type { Builder, BuildRequest, BuildState } from "../builder.ts";
import { openBuildsInFlight } from "../builds-in-flight.ts";
import { openCommandSlots } from "../command-slots.ts";
import type { ImageDeps } from "./build-image.ts";
import { type EnsureDeps, ensureImage } from "./ensure-image.ts";
import { type FolderChecks, folderChecks } from "./folder-checks.ts";
import { type ImageFolders, imageFolders } from "./image-folders.ts";
import { dependenciesFolder, openInstalls } from "./installs.ts";
import { openInterpreters } from "./interpreters.ts";
import { bytesBelow, removeImage } from "./remove-image.ts";
import { removeLeftovers } from "./remove-leftovers.ts";
import { type BuildWanted, runBuild } from "./run-build.ts";

const DEADLINE_MS = 600_000;
const CONCURRENCY = 2;
const UNPACKING_AT_ONCE = 4;
const GRACE_MS = 3_600_000;

export interface LocalBuilderOptions {
  readonly objects: ObjectStore;
  /** Images, dependencies, caches and logs; used by one process at a time. */
  readonly folder: string;
  /** A PATH value: where interpreters and tools are looked for. */
  readonly path: string;
  /** Folders whose programs are not taken, such as the project's `node_modules`. */
  readonly excluded: readonly string[];
  readonly processes: ProcessSupervisor;
  readonly clock: Clock;
  /** Hears once of every runtime that another version than the named one serves. */
  readonly notice?: (message: string) => void;
  /** Proxies, certificates, registries for installs: see `buildSettings`. */
  readonly passThrough?: Readonly<Record<string, string>>;
  /** For each command of a build. Default 10 min. */
  readonly deadlineMs?: number;
  /** Commands at the same time. Default 2. */
  readonly concurrency?: number;
  /** Of the unpacked source. */
  readonly limits?: ArchiveLimits;
}

export interface LocalBuilder extends Builder {
  /** What an image of this builder starts with; undefined when it is not there, or not whole any more. */
  resolveImage(imageRef: string): Promise<LocalImage | undefined>;
  /** What is missing of an image that is there; the next `ensure` builds it again. */
  imageDamage(imageRef: string): Promise<string | undefined>;
  /** All that are there. `key`: 64 hex digits, with which `imageRef` ends. */
  images(): AsyncIterable<{ readonly key: string; readonly usedAt: Date }>;
  bytesOf(key: string): Promise<number>;
  /** @returns false when a build or a workload wants it after all */
  removeImage(key: string): Promise<boolean>;
  /** Removes dependencies of no image that were not used in the last hour, and logs of no image. */
  removeLeftovers(): Promise<void>;
  /** Ends what is in flight; nothing half made stays. */
  close(): Promise<void>;
}

/**
 * A Builder without containers: an image is a folder with the unpacked source and a link to its dependencies, which
 * are installed once per set of dependency files. Install scripts of packages run as they would at the user's own
 * hand: it is the user's machine, and no boundary between tenants.
 */
export function localBuilder(options: LocalBuilderOptions): LocalBuilder {
  const deps = openParts(options);
  const { checks, images, logs, builds, wanted, listeners } = deps;
  let ready: Promise<void> | undefined;
  let closed = false;

  async function ensure(request: BuildRequest): Promise<BuildState> {
    if (closed) throw new SlessError("internal", { cause: "it is shutting down" });
    try {
      ready ??= prepareFolder(options.folder);
      await ready;
    } catch (error) {
      ready = undefined;
      return failNow("folder", toBuildFault(error), request.workload, deps);
    }
    return ensureImage(request, deps);
  }

  return {
    ensure,
    async has(imageRef) {
      const key = keyOf(imageRef);
      return key !== undefined && (await images.resolve(key)) !== undefined;
    },
    async resolveImage(imageRef) {
      const key = keyOf(imageRef);
      return key === undefined ? undefined : images.resolve(key);
    },
    async imageDamage(imageRef) {
      const key = keyOf(imageRef);
      return key === undefined ? undefined : images.damageNow(key);
    },
    async cancel(workload) {
      const before = wanted.get(refText(workload));
      wanted.delete(refText(workload));
      if (before) await builds.leave(before.key, workload);
    },
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async *logs(workload, { follow, signal }) {
      const log = await logs.of(workload);
      if (log) yield* log.read({ follow, signal });
    },
    async *images() {
      for (const key of await images.keys()) {
        const usedAt = await images.usedAt(key);
        if (usedAt) yield { key, usedAt };
      }
    },
    bytesOf: (key) => bytesBelow(images.folderOf(key)),
    removeImage: (key) =>
      removeImage(key, { images, folder: options.folder, isWanted: (one) => wantedKeys(deps).has(one) }),
    removeLeftovers: () =>
      removeLeftovers({
        checks,
        images,
        logs,
        folder: options.folder,
        wanted: wantedKeys(deps),
        before: new Date(options.clock.now().getTime() - GRACE_MS),
        isIdle: () => builds.keys().length === 0,
      }),
    async close() {
      closed = true;
      await builds.close();
    },
  };
}

interface Parts extends EnsureDeps {
  readonly checks: FolderChecks;
  readonly listeners: Set<(workload: WorkloadRef) => void>;
}

function openParts(options: LocalBuilderOptions): Parts {
  const { folder, clock } = options;
  const checks = folderChecks();
  const images = imageFolders(join(folder, "images"), {
    checks,
    linked: ({ dependencies }) => (dependencies === undefined ? [] : [dependenciesFolder(folder, dependencies)]),
  });
  const logs = buildLogs(join(folder, "logs"));
  const interpreters = openInterpreters(options, options.notice ?? (() => undefined));
  const failures = buildFailures(clock);
  const wanted: EnsureDeps["wanted"] = new Map();
  const listeners: Parts["listeners"] = new Set();
  const running = {
    deps: imageDeps(options, images, checks),
    logs,
    failures,
    made(key: string, workloads: Iterable<WorkloadRef>) {
      for (const workload of workloads) wanted.set(refText(workload), { key, made: true });
    },
  };
  const builds = openBuildsInFlight<BuildWanted>({
    clock,
    firstStep: "unpacking",
    run: (key, build, flight, step) => runBuild(key, build, flight, step, running),
    changed(workloads) {
      for (const workload of workloads) for (const listener of listeners) listener(workload);
    },
  });
  const notice = options.notice ?? (() => undefined);
  return { clock, checks, images, logs, interpreters, failures, builds, wanted, listeners, notice };
}

function wantedKeys({ wanted, builds }: Parts): Set<string> {
  return new Set([...[...wanted.values()].map(({ key }) => key), ...builds.keys()]);
}

function imageDeps(options: LocalBuilderOptions, images: ImageFolders, checks: FolderChecks): ImageDeps {
  const slots = openCommandSlots(options.concurrency ?? CONCURRENCY);
  const shared = {
    ...options,
    checks,
    slots,
    unpacking: openCommandSlots(UNPACKING_AT_ONCE),
    deadlineMs: options.deadlineMs ?? DEADLINE_MS,
    passThrough: options.passThrough ?? {},
    limits: options.limits ?? {},
  };
  return { ...shared, images, installs: openInstalls(shared) };
}

/** Drafts of an earlier life go; the supervisor has ended whoever wrote them. */
async function prepareFolder(folder: string): Promise<void> {
  await rm(join(folder, "tmp"), { recursive: true, force: true });
  for (const name of ["tmp", "home", "logs", "images", "deps"]) await mkdir(join(folder, name), { recursive: true });
}

function keyOf(imageRef: string): string | undefined {
  return /^local\/[^@]+@sha256:([0-9a-f]{64})$/.exec(imageRef)?.[1];
}
