import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import type { ObjectKey } from "../apis/index.ts";
import type { EmbeddedOptions } from "../cli/index.ts";
import { systemClock } from "../controller/index.ts";
import { processPlatform } from "../platform/process/index.ts";
import { openProcessSupervisor } from "../processes/index.ts";
import type { Reporter } from "../report/index.ts";
import { openEmbeddedStore } from "../resources/embedded/index.ts";
import { loadRuntimes } from "../runtimes/index.ts";
import { openUploadFolder } from "../server/index.ts";
import type { Closers } from "./closers.ts";
import { openClusterObjects } from "./cluster/cluster-objects.ts";
import { openEmbeddedBuilder } from "./embedded-builder.ts";
import { installationId } from "./installation-id.ts";
import { noteMovedSources } from "./moved-sources.ts";
import { patientStore } from "./patient-store.ts";
import { secretFiles } from "./secret-files.ts";
import { versionOfSless } from "./version-of-sless.ts";

const ROOT = join(import.meta.dirname, "../..");
export const HOST = "127.0.0.1";

export type EmbeddedPorts = Awaited<ReturnType<typeof openEmbeddedPorts>>;

/**
 * The ports of the embedded mode, everything below one data folder unless sources or images have a place of their own.
 * `synced` resolves when the repositories were synced for the first time: until then builds wait for sources.
 */
export async function openEmbeddedPorts(
  { data, settings, stores }: Pick<EmbeddedOptions, "data" | "settings" | "stores">,
  { log, report, synced }: { readonly log: Logger; readonly report: Reporter; readonly synced: Promise<void> },
  closers: Closers,
) {
  const runtimes = await loadRuntimes(join(ROOT, "runtimes"));
  const notice = (message: string) => report({ step: "notice", message });
  const store = closers.add(await openEmbeddedStore(join(data, "resources.db"), { notice }));
  const { s3, registry } = stores ?? { s3: undefined, registry: undefined };
  const objects = await openClusterObjects({ s3, data }, systemClock, closers);
  await noteMovedSources({ data, s3, store, objects: objects.stored, notice });
  const installation = await installationId(data);
  const uploads = await openUploadFolder(join(data, "uploads"));
  const secrets = secretFiles(join(data, "secrets"));
  const processes = closers.add(await openProcessSupervisor({ folder: join(data, "processes") }));
  const home = join(data, "home");
  await mkdir(home, { recursive: true });
  const images = await openEmbeddedBuilder(
    {
      ...{ data, settings, registry, installation, processes, runtimes, notice },
      objects: patientStore(objects.objects, synced),
      version: await versionOfSless(),
      // A function runs on the machine's interpreters, not on the one that sless pins for itself.
      excluded: [join(ROOT, "node_modules")],
    },
    closers,
  );
  const platform = closers.add(
    processPlatform({
      folder: data,
      processes,
      clock: systemClock,
      baseEnv: { PATH: settings.path, HOME: home, LANG: "C.UTF-8" },
      resolveImage: images.resolveImage,
      imageDamage: images.imageDamage,
      secrets: secrets.read,
      host: HOST,
    }),
  );
  const onSecret = (secret: ObjectKey) =>
    void platform.secretChanged(secret).catch((err: unknown) => log.warn({ ...secret, err }, "secret not taken over"));
  closers.defer(secrets.onChange(onSecret));
  const { builder, garbage: imageGarbage } = images;
  // What a bucket holds may be another installation's; a folder is this one's alone.
  const collected = { ...imageGarbage, ...(s3 ? { installation: `dev-${installation}` } : {}) };
  return { runtimes, store, ...objects, uploads, secrets, builder, platform, collected };
}
