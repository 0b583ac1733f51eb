import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { createClosers } from "../../src/app/closers.ts";
import { type EmbeddedBuilder, openEmbeddedBuilder } from "../../src/app/embedded-builder.ts";
import { readStoreSettings } from "../../src/config/index.ts";
import { openProcessSupervisor } from "../../src/processes/index.ts";
import type { Runtime } from "../../src/runtimes/index.ts";
import type { ObjectStore } from "../../src/storage/index.ts";
import { memoryObjectStore } from "./memory-object-store.ts";
import { shellRuntime } from "./shell-runtime.ts";
import { temporaryFolder } from "./temporary-folder.ts";

export interface EmbeddedBuilderTest extends EmbeddedBuilder {
  readonly objects: ObjectStore;
  readonly runtime: Runtime;
  readonly data: string;
  readonly notices: readonly string[];
  /** How often the shell runtime installed something. */
  installs(): Promise<number>;
  close(): Promise<void>;
}

export interface EmbeddedBuilderTestOptions {
  /** A registry that has the image `base:1`; default: none. */
  readonly host?: string | undefined;
  readonly runtime?: Partial<Runtime>;
  /** A data folder and objects that an earlier one has left. */
  readonly before?: EmbeddedBuilderTest;
}

/** The builder of the embedded mode over the shell runtime; closed when the test ends. */
export async function openEmbeddedBuilderTest({
  host,
  runtime: more,
  before,
}: EmbeddedBuilderTestOptions): Promise<EmbeddedBuilderTest> {
  const data = before?.data ?? (await temporaryFolder());
  const objects = before?.objects ?? memoryObjectStore();
  const server = join(data, "server");
  await mkdir(server, { recursive: true });
  await writeFile(join(server, "server"), "#!/bin/sh\n", { mode: 0o755 });
  const runtime = shellRuntime({
    baseImage: `${host}/base:1`,
    folder: server,
    start: { command: ["{interpreter}", "{runtime}/server", "{source}"], env: { DEPS: "{deps}" } },
    ...more,
  });
  const counter = join(data, "install-count");
  const notices: string[] = [];
  const closers = createClosers();
  onTestFinished(() => closers.close());
  const opened = await openEmbeddedBuilder(
    {
      ...{ data, objects, excluded: [], version: "1.0.0-test", installation: "0123456789ab" },
      settings: { path: "/usr/bin:/bin", buildEnvironment: { INSTALL_COUNT: counter } },
      registry: readStoreSettings(host === undefined ? {} : { REGISTRY_HOST: host }).registry,
      processes: closers.add(await openProcessSupervisor({ folder: join(data, "processes") })),
      runtimes: new Map([[runtime.name, runtime]]),
      notice: (message) => notices.push(message),
    },
    closers,
  );
  const installs = async () => (await readFile(counter, "utf8").catch(() => "")).split("\n").filter(Boolean).length;
  return { ...opened, objects, runtime, data, notices, installs, close: () => closers.close() };
}
