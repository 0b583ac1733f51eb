import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { imageName, refText, type WorkloadRef } from "../../apis/index.ts";
import type { Clock } from "../../controller/clock.ts";
import { SlessError } from "../../errors/index.ts";
import type { LocalImage, LogFile, ProcessSupervisor } from "../../processes/index.ts";
import type { Interpreter, Runtime } from "../../runtimes/index.ts";
import type { ArchiveLimits } from "../../source/index.ts";
import type { ObjectStore } from "../../storage/index.ts";
import type { Builder, BuildRequest, BuildState } from "../builder.ts";
import { buildFailures } from "./build-failures.ts";
import { BuildFault, toBuildFault } from "./build-fault.ts";
import { buildImage, type ImageDeps } from "./build-image.ts";
import { buildKey } from "./build-keys.ts";
import { buildLogs } from "./build-logs.ts";
import { collectGarbage } from "./collect-garbage.ts";
import { openCommandSlots } from "./command-slots.ts";
import { checkHandlerFile } from "./handler-file.ts";
import { type ImageFolders, type ImageRecord, imageFolders } from "./image-folders.ts";
import { openInstalls } from "./installs.ts";
import { openInterpreters } from "./interpreters.ts";

const DEADLINE_MS = 600_000;
const CONCURRENCY = 2;
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
  /** What an image of this builder starts with; undefined when it is not there. */
  resolveImage(imageRef: string): Promise<LocalImage | undefined>;
  /** Removes images, and dependencies of no image, that are neither kept nor were used in the last hour. */
  collect(keep: ReadonlySet<string>): Promise<void>;
  /** Ends what is in flight; nothing half made stays. */
  close(): Promise<void>;
}

/** A build in flight. */
interface Build {
  readonly workloads: Map<string, WorkloadRef>;
  readonly stop: AbortController;
  readonly startedAt: Date;
  readonly done: Promise<void>;
  step: string;
}

/**
 * A Builder without containers: an image is a folder with the unpacked source and a link to its dependencies, which
 * are installed once per set of dependency files. Install scripts of packages run as they would at the user's own
 * hand: it is the user's machine, and no boundary between tenants.
 */
export function localBuilder(options: LocalBuilderOptions): LocalBuilder {
  const { folder, clock } = options;
  const images = imageFolders(join(folder, "images"));
  const logs = buildLogs(join(folder, "logs"));
  const interpreters = openInterpreters(options, options.notice ?? (() => undefined));
  const deps = imageDeps(options, images);
  const failures = buildFailures(clock);
  const builds = new Map<string, Build>();
  /** Which key each workload asked for last, and whether it was built for it. */
  const wanted = new Map<string, { key: string; made: boolean }>();
  const listeners = new Set<(workload: WorkloadRef) => void>();
  let ready: Promise<void> | undefined;
  let closed = false;

  function tell(workloads: Iterable<WorkloadRef>): void {
    for (const workload of workloads) for (const listener of listeners) listener(workload);
  }

  async function ensure(request: BuildRequest): Promise<BuildState> {
    if (closed) throw new SlessError("internal", { cause: "it is shutting down" });
    const { workload, runtime } = request;
    try {
      ready ??= prepareFolder(folder);
      await ready;
    } catch (error) {
      ready = undefined;
      return failNow("folder", toBuildFault(error), workload);
    }
    const missing = failures.current(toolchainId(runtime), workload.name);
    if (missing) return missing;
    const interpreter = await interpreters.find(runtime);
    if (!interpreter) return failNow(toolchainId(runtime), toolchainMissing(runtime), workload);
    const key = buildKey(request, interpreter);
    want(workload, key);
    if (!builds.has(key)) {
      const image = await images.read(key);
      if (image) return reuse(request, key, image);
      const known = failures.current(key, workload.name) ?? failures.current(handlerId(key, request), workload.name);
      if (known) return known;
    }
    const build = builds.get(key) ?? start(key, request, interpreter);
    build.workloads.set(refText(workload), workload);
    await logs.pointDurably(workload, key);
    return { phase: "building", startedAt: build.startedAt, step: build.step };
  }

  /** Remembers what the workload wants now; nobody may wait for what it wanted before. */
  function want(workload: WorkloadRef, key: string): void {
    const before = wanted.get(refText(workload));
    if (before?.key === key) return;
    if (before) leave(before.key, workload);
    wanted.set(refText(workload), { key, made: false });
  }

  function leave(key: string, workload: WorkloadRef): Build | undefined {
    const build = builds.get(key);
    build?.workloads.delete(refText(workload));
    if (build?.workloads.size === 0) build.stop.abort(new Error("nobody wants it any more"));
    return build;
  }

  async function reuse(request: BuildRequest, key: string, image: ImageRecord): Promise<BuildState> {
    const { workload, entrypoint, runtime } = request;
    logs.point(workload, key);
    try {
      // Another workload's build may have made it, for another entry point.
      await checkHandlerFile(join(images.folderOf(key), "source"), entrypoint, runtime);
    } catch (error) {
      const id = handlerId(key, request);
      return failures.current(id, workload.name) ?? failNow(id, toBuildFault(error), workload);
    }
    await images.touch(key, clock.now());
    return {
      phase: "built",
      imageRef: `local/${imageName(workload)}@sha256:${key}`,
      builtAt: new Date(image.builtAt),
      durationMs: image.durationMs,
      reused: !wanted.get(refText(workload))?.made,
    };
  }

  function failNow(id: string, fault: BuildFault, workload: WorkloadRef): BuildState {
    failures.add(id, fault);
    return failures.current(id, workload.name)!;
  }

  function start(key: string, request: BuildRequest, interpreter: Interpreter): Build {
    const stop = new AbortController();
    const build: Build = { workloads: new Map(), stop, startedAt: clock.now(), step: "unpacking", done: run() };
    builds.set(key, build);
    return build;

    async function run(): Promise<void> {
      const log = await logs.begin(key);
      const step = (name: string) => {
        build.step = name;
        tell(build.workloads.values());
      };
      try {
        await buildImage({ key, request, interpreter, log, signal: stop.signal, step }, deps);
        failures.forget(key);
        for (const workload of build.workloads.keys()) wanted.set(workload, { key, made: true });
      } catch (error) {
        if (!stop.signal.aborted) await fail(key, request, toBuildFault(error), log);
      }
      await logs.end(key);
      builds.delete(key);
      tell(build.workloads.values());
    }
  }

  async function fail(key: string, request: BuildRequest, fault: BuildFault, log: LogFile): Promise<void> {
    // A missing handler is the fault of this entry point, not of the source that others may share.
    failures.add(fault.code === "source_missing" ? handlerId(key, request) : key, fault);
    await log.append(Buffer.from(`sless: ${fault.message}\n`));
  }

  return {
    ensure,
    async has(imageRef) {
      const key = keyOf(imageRef);
      return key !== undefined && (await images.read(key)) !== undefined;
    },
    async resolveImage(imageRef) {
      const key = keyOf(imageRef);
      return key === undefined ? undefined : images.resolve(key);
    },
    async cancel(workload) {
      const before = wanted.get(refText(workload));
      wanted.delete(refText(workload));
      const left = before && leave(before.key, workload);
      if (left?.stop.signal.aborted) await left.done;
    },
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async *logs(workload, { follow, signal }) {
      const log = await logs.of(workload);
      if (log) yield* log.read({ follow, signal });
    },
    async collect(keep) {
      const inUse = [...wanted.values()].map(({ key }) => key);
      const kept = new Set([...[...keep].map(keyOf).filter((key) => key !== undefined), ...inUse, ...builds.keys()]);
      const before = new Date(clock.now().getTime() - GRACE_MS);
      await collectGarbage({ images, logs, folder, keep: kept, before, isIdle: () => builds.size === 0 });
    },
    async close() {
      closed = true;
      const left = [...builds.values()];
      for (const build of left) build.stop.abort(new Error("it is shutting down"));
      await Promise.all(left.map((build) => build.done));
    },
  };
}

function imageDeps(options: LocalBuilderOptions, images: ImageFolders): ImageDeps {
  const slots = openCommandSlots(options.concurrency ?? CONCURRENCY);
  const shared = {
    ...options,
    slots,
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

function toolchainId(runtime: Runtime): string {
  return `toolchain ${runtime.name} ${runtime.digest}`;
}

function toolchainMissing({ name, interpreter }: Runtime): BuildFault {
  const tool = `${interpreter.commands[0]} ${interpreter.version}`;
  return new BuildFault("toolchain_missing", { runtime: name, tool, install: interpreter.install });
}

function handlerId(key: string, { entrypoint }: BuildRequest): string {
  return `${key} ${entrypoint}`;
}

function keyOf(imageRef: string): string | undefined {
  return /^local\/[^@]+@sha256:([0-9a-f]{64})$/.exec(imageRef)?.[1];
}
