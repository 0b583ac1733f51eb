import { join } from "node:path";
import type { Logger } from "pino";
import type { ObjectKey } from "../apis/index.ts";
import type { EmbeddedApp, EmbeddedOptions } from "../cli/index.ts";
import { type ReconcileRun, systemClock, type TimerClock } from "../controller/index.ts";
import { messageOf } from "../errors/index.ts";
import type { Garbage } from "../garbage/index.ts";
import { createEndpointTable, createGateway, type Gateway } from "../gateway/index.ts";
import {
  createObjectInformers,
  type ObjectInformers,
  type Reconcilers,
  startReconcilers,
} from "../reconcilers/index.ts";
import type { ProgressEvent, Reporter } from "../report/index.ts";
import { type Scheduler, startScheduler } from "../schedule/index.ts";
import { createEventRing, createMetrics, createServer, localGuard, type Metrics } from "../server/index.ts";
import { createSyncController, type SyncController } from "../sync/index.ts";
import { type Closers, createClosers } from "./closers.ts";
import { openDataFolder } from "./data-folder.ts";
import { startEmbeddedGarbage } from "./embedded-garbage.ts";
import { type EmbeddedPorts, HOST, openEmbeddedPorts } from "./embedded-ports.ts";
import { type LocalRepository, localRepository } from "./local-repository.ts";
import { createLogger } from "./logger.ts";
import { namespaceFiles } from "./namespace-files.ts";
import { openHooks } from "./open-hooks.ts";
import { openRemotes, type Remotes } from "./remotes.ts";
import { createRunWatch, type RunWatch, settled } from "./settled.ts";

/** Share of the ten seconds of a stop that reconciles in flight may use. */
const CONTROLLERS_STOP_MS = 3_000;
const CALLS_STOP_MS = 4_000;

/** Composition root of the embedded mode: everything in this process, over the embedded adapters. */
export async function startEmbedded(options: EmbeddedOptions, settings: EmbeddedSettings = {}): Promise<EmbeddedApp> {
  const closers = createClosers();
  try {
    return await start(options, closers, settings);
  } catch (error) {
    await closers.close().catch(() => {});
    throw error;
  }
}

export interface EmbeddedSettings {
  /** What the ticks of cron triggers are measured by; default the system's. */
  readonly cronClock?: TimerClock;
}

/** What every part of the app is given. */
interface Parts {
  readonly options: EmbeddedOptions;
  readonly closers: Closers;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly events: ReturnType<typeof createEventRing>;
  readonly report: Reporter;
  readonly ports: EmbeddedPorts;
  readonly informers: ObjectInformers;
  readonly gateway: Gateway;
  readonly remotes: Remotes;
  readonly local: LocalRepository;
  readonly garbage: Garbage;
  readonly runs: RunWatch;
}

async function start(
  options: EmbeddedOptions,
  closers: Closers,
  { cronClock = systemClock }: EmbeddedSettings,
): Promise<EmbeddedApp> {
  const synced = Promise.withResolvers<void>();
  const parts = await openParts(options, closers, synced.promise);
  let sync: SyncController | undefined;
  const url = await openServer(parts, () => sync);
  const reconcilers = await startReconcilersOf(parts, url);
  sync = startSync(parts);
  stopTogether(parts, sync, reconcilers, startCron(parts, cronClock));
  const key = await applyRepository(options, parts.ports);
  await watchSources(parts, sync, key);
  void sync.idle().then(synced.resolve);
  const settling = { store: parts.ports.store, runs: parts.runs, sync, reconcilers };
  return { url, settled: () => settled(settling, key.namespace), close: () => closers.close() };
}

async function openParts(options: EmbeddedOptions, closers: Closers, synced: Promise<void>): Promise<Parts> {
  const { data, settings, repository } = options;
  const log = createLogger(settings.log);
  const metrics = createMetrics();
  const events = createEventRing(systemClock);
  const report = (event: ProgressEvent) => {
    metrics.report(event);
    events.report(event);
    options.report(event);
  };
  closers.add(await openDataFolder(data));
  const ports = await openEmbeddedPorts(options, { log, report, synced }, closers);
  const informers = createObjectInformers(ports.store, log);
  const watching = new AbortController();
  closers.defer(() => watching.abort());
  await informers.start(watching.signal);
  const gateway = createGateway({
    endpoints: createEndpointTable(informers),
    platform: ports.platform,
    clock: systemClock,
    log,
    onCall: metrics.onCall,
  });
  metrics.watch("sless_gateway_calls_in_flight", "Calls of functions that have not ended", gateway.inFlight);
  const { path, worktree = false } = repository;
  const local = closers.add(await localRepository({ path, worktree, excluded: [data], searchPath: settings.path }));
  const remotes = await openRemotes({ folder: join(data, "mirrors"), settings, secrets: ports.secrets });
  const garbage = startEmbeddedGarbage(ports, { log, settings });
  closers.defer(garbage.stop);
  return {
    options,
    closers,
    log,
    metrics,
    events,
    report,
    ports,
    informers,
    gateway,
    remotes,
    local,
    garbage,
    runs: createRunWatch(),
  };
}

/** Listens before anything runs, so that a taken port is told before anything was started. */
async function openServer(parts: Parts, sync: () => SyncController | undefined): Promise<string> {
  const { options, closers, ports, remotes, log, metrics } = parts;
  const { namespace } = options.repository;
  const namespaces = namespaceFiles(join(options.data, "namespaces"));
  await namespaces.ensure(namespace);
  const server = createServer({
    ...parts,
    ...ports,
    namespaces,
    hooks: openHooks({ ...ports, readSecret: ports.secrets.read, sync, clock: systemClock, log, metrics }, closers),
    placeOf: (ref, repository) => sync()?.placeOf(ref, repository),
    repositoryUrlFault: remotes.urlFault,
    collectGarbage: parts.garbage.collect,
    startedWith: { namespace, name: options.repository.name },
    whoami: () => ({ subject: "local", namespace, authentication: "none" }),
    readiness: {
      store: async () => void (await ports.store.get("Repository", { namespace, name: options.repository.name })),
      controllers: () => (sync() ? undefined : "the controllers have not started yet"),
    },
    guard: localGuard(),
    clock: systemClock,
    closeTimeoutMs: CALLS_STOP_MS,
  });
  closers.defer(() => server.close());
  return (await server.listen({ host: HOST, port: options.port })).url;
}

async function startReconcilersOf(
  { ports, informers, report, log, metrics, runs }: Parts,
  url: string,
): Promise<Reconcilers> {
  const reconcilers = await startReconcilers({
    ...ports,
    informers,
    clock: systemClock,
    report,
    log,
    onRun: (run) => noteRun(run, log, runs),
    urlOf: (ref) => `${url}/fn/${ref.namespace}/${ref.name}`,
  });
  for (const { name, sizes } of reconcilers.controllers) metrics.watchQueue(name, () => sizes().ready);
  return reconcilers;
}

function startCron({ ports, informers, gateway, report, log, metrics, runs }: Parts, clock: TimerClock): Scheduler {
  const scheduler = startScheduler({
    ...informers,
    store: ports.store,
    invoke: gateway.invoke,
    clock,
    report,
    log,
    onRun: (run) => noteRun(run, log, runs),
  });
  const { name, sizes } = scheduler.controller;
  metrics.watchQueue(name, () => sizes().ready);
  return scheduler;
}

function startSync({ options, ports, informers, report, log, local, remotes, runs }: Parts): SyncController {
  return createSyncController({
    ...ports,
    informers,
    clock: systemClock,
    report,
    log,
    onRun: (run) => noteRun(run, log, runs),
    // Only the repository that this process was started with may be read from the disk.
    openGit: async (repository) =>
      repository.spec.url === options.repository.path ? local.open() : remotes.open(repository),
    webhookFault: remotes.webhookFault,
  });
}

function noteRun(run: ReconcileRun, log: Logger, runs: RunWatch): void {
  log.debug(run, "reconciled");
  runs.onRun();
}

function stopTogether({ closers }: Parts, ...running: readonly (SyncController | Reconcilers | Scheduler)[]) {
  closers.defer(() => Promise.all(running.map((each) => each.stop(CONTROLLERS_STOP_MS))));
}

async function watchSources({ closers, informers, remotes, local, log }: Parts, sync: SyncController, key: ObjectKey) {
  const onError = (error: unknown) => log.warn({ err: messageOf(error) }, "mirrors not removed");
  closers.defer(remotes.watch({ repositories: informers.repositories, onHint: sync.hint, onError }));
  closers.add(await local.watch(() => sync.hint(key)));
}

async function applyRepository({ repository }: EmbeddedOptions, { store }: EmbeddedPorts): Promise<ObjectKey> {
  const { name, namespace, path, ref, subPath } = repository;
  const hasRef = Object.keys(ref).length > 0;
  const spec = { url: path, ...(hasRef ? { ref } : {}), ...(subPath ? { path: subPath } : {}) };
  await store.apply({ kind: "Repository", metadata: { name, namespace }, spec }, { owner: "api" });
  return { name, namespace };
}
