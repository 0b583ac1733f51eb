import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import type { ObjectKey } from "../apis/index.ts";
import { localBuilder } from "../build/local/index.ts";
import type { EmbeddedOptions } from "../cli/index.ts";
import { systemClock } from "../controller/index.ts";
import { claimingStore } from "../garbage/index.ts";
import { processPlatform } from "../platform/process/index.ts";
import { openProcessSupervisor } from "../processes/index.ts";
import type { Reporter } from "../report/index.ts";
import { openEmbeddedStore } from "../resources/embedded/index.ts";
import { loadRuntimes } from "../runtimes/index.ts";
import { openUploadFolder } from "../server/index.ts";
import { openFilesystemStore } from "../storage/filesystem/index.ts";
import type { Closers } from "./closers.ts";
import { secretFiles } from "./secret-files.ts";

const ROOT = join(import.meta.dirname, "../..");
export const HOST = "127.0.0.1";

export type EmbeddedPorts = Awaited<ReturnType<typeof openEmbeddedPorts>>;

/** The ports of the embedded mode, everything below one data folder. */
export async function openEmbeddedPorts(
  { data, settings }: Pick<EmbeddedOptions, "data" | "settings">,
  { log, report }: { readonly log: Logger; readonly report: Reporter },
  closers: Closers,
) {
  const runtimes = await loadRuntimes(join(ROOT, "runtimes"));
  const store = closers.add(await openEmbeddedStore(join(data, "resources.db")));
  const stored = await openFilesystemStore(join(data, "objects"));
  const objects = claimingStore(stored, systemClock);
  const uploads = await openUploadFolder(join(data, "uploads"));
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
  return { runtimes, store, stored, objects, uploads, secrets, builder, platform };
}
