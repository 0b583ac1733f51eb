import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { buildImage } from "./machines.ts";
import { type Image, killReplica, type Machine, type Replica, spawnRuntime, startReplica } from "./replica.ts";

export type Files = Readonly<Record<string, string>>;

/** Writes files below a folder. */
export async function writeFiles(folder: string, files: Files): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}

/** An image of a source that the test spells out; gone when the test ends. */
export async function inlineImage(
  machine: Machine,
  files: Files,
  options: { entrypoint?: string; deps?: string; env?: Record<string, string> } = {},
): Promise<Image> {
  const folder = await temporaryFolder();
  await writeFiles(join(folder, "written"), files);
  return buildImage(machine, { source: join(folder, "written"), folder: join(folder, "image"), ...options });
}

/** A replica of a source that the test spells out; ended when the test ends. */
export async function inlineReplica(
  machine: Machine,
  files: Files,
  env: Record<string, string> = {},
): Promise<Replica> {
  const replica = await startReplica(machine, await inlineImage(machine, files), env);
  onTestFinished(() => killReplica(replica));
  return replica;
}

/** Starts a source that cannot be served: its exit code, the last line of its log, and the log. */
export async function refusedStart(
  machine: Machine,
  files: Files,
  entrypoint = "handler.handle",
): Promise<{ code: number | string; reason: string; log: string }> {
  const replica = spawnRuntime(machine, await inlineImage(machine, files, { entrypoint }), {
    SLESS_ENTRYPOINT: entrypoint,
  });
  onTestFinished(() => killReplica(replica));
  const code = await replica.exited();
  const log = replica.stderr();
  return { code, reason: log.trimEnd().split("\n").at(-1) ?? "", log };
}
