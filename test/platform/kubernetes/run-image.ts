import { spawn } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { JobRun } from "../../../src/platform/index.ts";
import { jobOf } from "../../../src/platform/kubernetes/job.ts";
import { DEFAULT_SETTINGS } from "../../../src/platform/kubernetes/settings.ts";
import type { ImageBehaviour } from "../../support/fake-images.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { watchChild } from "../../support/watched-child.ts";

const SERVER = resolve(import.meta.dirname, "../../fixtures/images/server.mjs");

/** What a container of the run's Job would leave, for pods that run nothing: its termination message and its log. */
export async function runImage(run: JobRun, behaviour: ImageBehaviour): Promise<{ message: string; log: string }> {
  const folder = await temporaryFolder();
  const [event, result] = [join(folder, "event"), join(folder, "result")];
  await writeFile(join(folder, "image-behaviour.json"), JSON.stringify(behaviour));
  await writeFile(event, run.eventJSON ?? "null");
  const manifest = jobOf(run, { settings: DEFAULT_SETTINGS, envSecret: undefined, pullSecret: undefined });
  const [container] = manifest.spec.template.spec?.containers ?? [];
  const given = Object.fromEntries((container?.env ?? []).map(({ name, value }) => [name, value]));
  const child = spawn(process.execPath, [SERVER], {
    cwd: folder,
    env: { ...given, SLESS_EVENT_FILE: event, SLESS_RESULT_FILE: result, SLESS_PARENT_FD: "0" },
    stdio: ["pipe", "ignore", "pipe"],
  });
  const { closed, output } = watchChild(child);
  await closed();
  return { message: await readFile(result, "utf8"), log: output() };
}
