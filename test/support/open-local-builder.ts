import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { type LocalBuilder, type LocalBuilderOptions, localBuilder } from "../../src/build/local/index.ts";
import { systemClock } from "../../src/controller/clock.ts";
import { openProcessSupervisor } from "../../src/processes/index.ts";
import type { Runtime } from "../../src/runtimes/index.ts";
import type { ObjectStore } from "../../src/storage/index.ts";
import { memoryObjectStore } from "./memory-object-store.ts";
import { shellRuntime } from "./shell-runtime.ts";
import { temporaryFolder } from "./temporary-folder.ts";

export interface LocalBuilderTest {
  readonly builder: LocalBuilder;
  readonly objects: ObjectStore;
  readonly runtime: Runtime;
  /** Everything lies below it: `builds/`, `processes/`. */
  readonly folder: string;
  readonly notices: readonly string[];
  /** How often the shell runtime installed something. */
  installs(): Promise<number>;
  close(): Promise<void>;
}

type Options = Partial<LocalBuilderOptions> & { readonly runtime?: Partial<Runtime> };

/** A local builder in a folder of its own, or in one that an earlier builder has left; closed when the test ends. */
export async function openLocalBuilder({ runtime, folder: at, ...options }: Options = {}): Promise<LocalBuilderTest> {
  const folder = at ?? (await temporaryFolder());
  const processes = await openProcessSupervisor({ folder: join(folder, "processes") });
  const objects = options.objects ?? memoryObjectStore();
  const counter = join(folder, "install-count");
  const notices: string[] = [];
  const builder = localBuilder({
    objects,
    path: "/usr/bin:/bin",
    excluded: [],
    processes,
    clock: systemClock,
    notice: (message) => notices.push(message),
    ...options,
    folder: join(folder, "builds"),
    passThrough: { INSTALL_COUNT: counter, ...options.passThrough },
  });
  async function close(): Promise<void> {
    await builder.close();
    await processes.close();
  }
  onTestFinished(close);
  const installs = async () => (await readFile(counter, "utf8").catch(() => "")).split("\n").filter(Boolean).length;
  return { builder, objects, runtime: shellRuntime(runtime), folder, notices, installs, close };
}
