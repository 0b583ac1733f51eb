import { join } from "node:path";
import { onTestFinished } from "vitest";
import { systemClock } from "../../src/controller/clock.ts";
import { type ProcessPlatformOptions, processPlatform } from "../../src/platform/process/index.ts";
import { openProcessSupervisor } from "../../src/processes/index.ts";
import { fakeImages } from "./fake-images.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** A process platform with short waits, in a folder of its own or in what an earlier one has left; closed with the test. */
export async function openProcessPlatform({ folder: at, ...options }: Partial<ProcessPlatformOptions> = {}) {
  const folder = at ?? (await temporaryFolder());
  const images = fakeImages(join(folder, "images"));
  const processes = await openProcessSupervisor({ folder: join(folder, "processes") });
  const platform = processPlatform({
    processes,
    resolveImage: images.resolveImage,
    secrets: async (namespace, name, key) => (key === "token" ? `${namespace}-${name}-value` : undefined),
    clock: systemClock,
    baseEnv: { PATH: "/usr/bin:/bin" },
    timing: { backOffMinMs: 100, backOffMaxMs: 800, drainMarginMs: 500 },
    ...options,
    folder: join(folder, "platform"),
  });
  async function close(): Promise<void> {
    await platform.close();
    await processes.close();
  }
  onTestFinished(close);
  return { platform, makeImage: images.make, folder, close };
}
