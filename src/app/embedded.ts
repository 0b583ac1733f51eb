import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import { type Kind, type ObjectKey, type ObjectOf, refOf } from "../apis/index.ts";
import { localBuilder } from "../build/local/index.ts";
import type { EmbeddedApp, EmbeddedOptions } from "../cli/index.ts";
import { type ReconcileRun, systemClock } from "../controller/index.ts";
import { messageOf } from "../errors/index.ts";
import { createEndpointTable, createGateway } from "../gateway/index.ts";
import { processPlatform } from "../platform/process/index.ts";
import { openProcessSupervisor } from "../processes/index.ts";
import { createObjectInformers, startReconcilers } from "../reconcilers/index.ts";
import type { ProgressEvent } from "../report/index.ts";
import { openEmbeddedStore } from "../resources/embedded/index.ts";
import { loadRuntimes } from "../runtimes/index.ts";
import { createEventRing, createMetrics, createServer, localGuard } from "../server/index.ts";
import { openFilesystemStore } from "../storage/filesystem/index.ts";
import { approveDeletions, createSyncController, type SyncController } from "../sync/index.ts";
import { collectImages } from "./collect-images.ts";
import { openDataFolder } from "./data-folder.ts";
import { type LocalRepository, localRepository } from "./local-repository.ts";
import { createLogger } from "./logger.ts";
import { namespaceFiles } from "./namespace-files.ts";
import { openRemotes, type Remotes } from "./remotes.ts";
import { secretFiles } from "./secret-files.ts";
import { isSettled } from "./settled.ts";

const ROOT = join(import.meta.dirname, "../..");
const HOST = "127.0.0.1";
/** Share of the ten seconds of a stop that reconciles in flight may use. */
const CONTROLLERS_STOP_MS = 3_000;
const CALLS_STOP_MS = 4_000;

/** What was opened is closed in the reverse order. */
class Closers {
  readonly #closers: (() => Promise<unknown> | unknown)[] = [];
  #closing: Promise<void> | undefined;

  add<T extends { close(): Promise<unknown> | unknown }>(opened: T): T {
    this.#closers.push(() => opened.close());
    return opened;
  }

  defer(close: () => Promise<unknown> | unknown): void {
    this.#closers.push(close);
  }

  close(): Promise<void> {
    this.#closing ??= this.#closeAll();
    return this.#closing;
  }

  async #closeAll(): Promise<void> {
    let failure: unknown;
    for (const close of this.#closers.reverse()) {
      try {
        await close();
      } catch (error) {
        failure ??= error;
      }
    }
    if (failure !== undefined) throw failure;
  }
}

/** Composition root of the embedded mode: everything in this process, over the embedded adapters. */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedApp> {
  const closers = new Closers();
  try {
    return await start(options, closers);
  } catch (error) {
    await closers.close().catch(() => {});
    throw error;
  }
}

async function start(options: EmbeddedOptions, closers: Closers): Promise<EmbeddedApp> {
  const { settings, data } = options;
  const log = createLogger(settings.log);
  const metrics = createMetrics();
  const events = createEventRing(systemClock);
  const report = (event: ProgressEvent) => {
    metrics.report(event);
    events.report(event);
    options.report(event);
  };
  closers.add(await openDataFolder(data));
  const ports = await openPorts({ options, log, report }, closers);
  const { store, platform } = ports;
  const informers = createObjectInformers(store, log);
  const watching = new AbortController();
  closers.defer(() => watching.abort());
  await informers.start(watching.signal);

  const gateway = createGateway({
    endpoints: createEndpointTable(informers),
    platform,
    clock: systemClock,
    log,
    onCall: metrics.onCall,
  });
  const local = closers.add(await followed(options));
  const remotes = await openRemotes({ folder: join(data, "mirrors"), settings, secrets: ports.secrets });
  let isStarted = false;
  // Nothing was read yet when the first request comes.
  let placeOf: SyncController["placeOf"] = () => undefined;
  const namespaces = namespaceFiles(join(data, "namespaces"));
  await namespaces.ensure(options.repository.namespace);
  const server = createServer({
    ...ports,
    namespaces,
    events,
    report,
    placeOf: (ref) => placeOf(ref),
    repositoryUrlFault: remotes.urlFault,
    whoami: () => ({ subject: "local", namespace: options.repository.namespace, authentication: "none" }),
    gateway,
    approveDeletions: (repository, deletions) =>
      approveDeletions(store, refOf(repository), deletions.map(toHeld(repository))),
    metrics,
    readiness: { controllers: () => (isStarted ? undefined : "the controllers have not started yet") },
    guard: localGuard(),
    clock: systemClock,
    log,
    closeTimeoutMs: CALLS_STOP_MS,
  });
  closers.defer(() => server.close());
  const { url } = await server.listen({ host: HOST, port: options.port });

  const onRun = (run: ReconcileRun) => log.debug(run, "reconciled");
  const reconcilers = await startReconcilers({
    ...ports,
    informers,
    clock: systemClock,
    report,
    log,
    onRun,
    urlOf: (ref) => `${url}/fn/${ref.namespace}/${ref.name}`,
  });
  const sync = createSyncController({
    ...ports,
    informers,
    clock: systemClock,
    report,
    log,
    onRun,
    openGit: (repository) => openGit(repository, options, { local, remotes }),
  });
  placeOf = sync.placeOf;
  for (const controller of reconcilers.controllers) metrics.watchQueue(controller.name, () => controller.sizes().ready);
  closers.defer(async () => {
    await Promise.all([sync.stop(CONTROLLERS_STOP_MS), reconcilers.stop(CONTROLLERS_STOP_MS)]);
  });
  closers.defer(
    collectImages(store, ports.builder, (error) => log.warn({ err: messageOf(error) }, "images not collected")),
  );
  metrics.watch("sless_gateway_calls_in_flight", "Calls of functions that have not ended", gateway.inFlight);
  isStarted = true;

  const key = await applyRepository(options, ports);
  const onError = (error: unknown) => log.warn({ err: messageOf(error) }, "mirrors not removed");
  closers.defer(remotes.watch({ repositories: informers.repositories, onHint: sync.hint, onError }));
  closers.add(await local.watch(() => sync.hint(key)));
  return { url, settled: () => settled({ ...ports, sync, reconcilers }, key), close: () => closers.close() };
}

interface Parts {
  readonly options: EmbeddedOptions;
  readonly log: Logger;
  readonly report: (event: ProgressEvent) => void;
}

async function openPorts({ options, log, report }: Parts, closers: Closers) {
  const { data, settings } = options;
  const runtimes = await loadRuntimes(join(ROOT, "runtimes"));
  const store = closers.add(await openEmbeddedStore(join(data, "resources.db")));
  const objects = await openFilesystemStore(join(data, "objects"));
  const secrets = secretFiles(join(data, "secrets"));
  const processes = closers.add(await openProcessSupervisor({ folder: join(data, "processes") }));
  const home = join(data, "home");
  await mkdir(home, { recursive: true });
  const builder = closers.add(
    localBuilder({
      objects,
      processes,
      folder: join(data, "builds"),
      path: settings.path,
      // A function runs on the machine's interpreters, not on the one that sless pins for itself.
      excluded: [join(ROOT, "node_modules")],
      passThrough: settings.buildEnvironment,
      clock: systemClock,
      notice: (message) => report({ step: "notice", message }),
    }),
  );
  const platform = closers.add(
    processPlatform({
      folder: data,
      processes,
      clock: systemClock,
      baseEnv: { PATH: settings.path, HOME: home, LANG: "C.UTF-8" },
      resolveImage: (imageRef) => builder.resolveImage(imageRef),
      secrets: secrets.read,
      host: HOST,
    }),
  );
  const onSecret = (secret: ObjectKey) =>
    void platform.secretChanged(secret).catch((err: unknown) => log.warn({ ...secret, err }, "secret not taken over"));
  closers.defer(secrets.onChange(onSecret));
  return { runtimes, store, objects, secrets, builder, platform };
}

function followed({ repository: { path, worktree = false }, data, settings }: EmbeddedOptions) {
  return localRepository({ path, worktree, excluded: [data], searchPath: settings.path });
}

/** Only the repository that this process was started with may be read from the disk. */
function openGit(
  repository: ObjectOf<"Repository">,
  { repository: { path } }: EmbeddedOptions,
  { local, remotes }: { readonly local: LocalRepository; readonly remotes: Remotes },
) {
  return repository.spec.url === path ? local.open() : remotes.open(repository);
}

type Ports = Awaited<ReturnType<typeof openPorts>>;

async function applyRepository({ repository }: EmbeddedOptions, { store }: Ports): Promise<ObjectKey> {
  const { name, namespace, path, ref, subPath } = repository;
  const hasRef = Object.keys(ref).length > 0;
  await store.apply(
    {
      kind: "Repository",
      metadata: { name, namespace },
      spec: { url: path, ...(hasRef ? { ref } : {}), ...(subPath ? { path: subPath } : {}) },
    },
    { owner: "api" },
  );
  return { name, namespace };
}

function toHeld(repository: ObjectOf<"Repository">) {
  const { namespace } = repository.metadata;
  return ({ kind, name, uid }: { kind: Kind; name: string; uid: string }) => ({ ref: { kind, namespace, name }, uid });
}

interface Idle {
  idle(): Promise<void>;
}

/** Waits until everything came to an end; each look is taken when nothing is left to do. */
async function settled(parts: Ports & { sync: Idle; reconcilers: Idle }, { namespace }: ObjectKey): Promise<void> {
  const { store, sync, reconcilers, builder, platform } = parts;
  for (;;) {
    const changed = Promise.withResolvers<void>();
    const stops = [builder.onChange(() => changed.resolve()), platform.onChange(() => changed.resolve())];
    await sync.idle();
    await reconcilers.idle();
    const done = await isSettled(store, namespace);
    if (!done) await changed.promise;
    for (const stop of stops) stop();
    if (done) return;
  }
}
