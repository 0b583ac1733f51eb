import { randomUUID } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { type ImageBuilder, type ImageBuilderOptions, imageBuilder } from "../../src/build/images/index.ts";
import { systemClock } from "../../src/controller/clock.ts";
import { openProcessSupervisor } from "../../src/processes/index.ts";
import { type RegistryClient, registryClient } from "../../src/registry/index.ts";
import type { Runtime } from "../../src/runtimes/index.ts";
import type { ObjectStore } from "../../src/storage/index.ts";
import { pushBaseImage } from "./base-image.ts";
import { memoryObjectStore } from "./memory-object-store.ts";
import { type ProcessImageJobs, processImageJobs } from "./process-image-jobs.ts";
import { shellRuntime } from "./shell-runtime.ts";
import { temporaryFolder } from "./temporary-folder.ts";

export interface ImageBuilderTest {
  readonly builder: ImageBuilder;
  readonly objects: ObjectStore;
  readonly runtime: Runtime;
  readonly registry: RegistryClient;
  readonly jobs: ProcessImageJobs;
  /** Of its repositories in the registry, which it shares with other tests. */
  readonly prefix: string;
  readonly folder: string;
  readonly notices: readonly string[];
  /** How often the shell runtime installed something. */
  installs(): Promise<number>;
  /** Another one over the same registry and objects, as after a restart: it knows nothing. */
  reopen(options?: Partial<ImageBuilderOptions>): Promise<ImageBuilderTest>;
}

export type ImageBuilderTestOptions = Partial<ImageBuilderOptions> & {
  readonly runtime?: Partial<Runtime>;
  readonly before?: ImageBuilderTest;
  /** Opens a client of a registry; default without credentials. */
  readonly connect?: (host: string) => RegistryClient;
};

function connectFreely(host: string): RegistryClient {
  return registryClient({ host, plainHttp: true, clock: systemClock });
}

/** A builder over a registry at `host`; closed when the test ends. */
export async function openImageBuilder(
  host: string,
  { runtime, before, connect = connectFreely, ...options }: ImageBuilderTestOptions = {},
): Promise<ImageBuilderTest> {
  const folder = before?.folder ?? (await temporaryFolder());
  const registry = options.registry ?? connect(host);
  const prefix = before?.prefix ?? `${options.prefix ?? ""}test-${randomUUID().slice(0, 8)}/`;
  const own = before?.runtime ?? (await ownRuntime(folder, host, prefix, runtime));
  const processes = await openProcessSupervisor({ folder: join(folder, `processes-${randomUUID()}`) });
  const direct = connect(host);
  if (!before) await pushBaseImage(direct, `${prefix}base`, "1");
  const jobs = processImageJobs({ folder, registry: direct, processes, clock: options.clock ?? systemClock });
  const objects = options.objects ?? before?.objects ?? memoryObjectStore();
  const counter = join(folder, "install-count");
  const notices: string[] = [];
  const builder = imageBuilder({
    objects,
    registry,
    clientOf: connectFreely,
    jobs,
    clock: systemClock,
    folder: join(folder, `builder-${randomUUID()}`),
    version: "1.0.0-test",
    addresses: { INSTALL_COUNT: counter },
    notice: (message) => notices.push(message),
    ...options,
    prefix,
  });
  onTestFinished(async () => {
    await builder.close();
    await processes.close();
    await registry.close();
    await direct.close();
  });
  const installs = async () => (await readFile(counter, "utf8").catch(() => "")).split("\n").filter(Boolean).length;
  const test: ImageBuilderTest = {
    ...{ builder, objects, runtime: own, registry, jobs, prefix, folder, notices, installs },
    reopen: (more = {}) => openImageBuilder(host, { before: test, connect, ...more }),
  };
  return test;
}

async function ownRuntime(folder: string, host: string, prefix: string, more: Partial<Runtime> = {}): Promise<Runtime> {
  const server = join(folder, "server");
  await mkdir(server);
  await writeFile(join(server, "server"), "#!/bin/sh\n", { mode: 0o755 });
  return shellRuntime({
    baseImage: `${host}/${prefix}base:1`,
    folder: server,
    start: { command: ["{interpreter}", "{runtime}/server", "{source}"], env: { DEPS: "{deps}" } },
    ...more,
  });
}
