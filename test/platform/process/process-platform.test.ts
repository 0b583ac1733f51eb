import { describe, onTestFinished } from "vitest";
import { systemClock } from "../../../src/controller/clock.ts";
import { type ProcessPlatformOptions, processPlatform } from "../../../src/platform/process/index.ts";
import { openProcessSupervisor } from "../../../src/processes/index.ts";
import { platformContract } from "../../contract/platform.ts";
import { fakeImages } from "../../support/fake-images.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

async function openPlatform(options: Partial<ProcessPlatformOptions> = {}) {
  const folder = await temporaryFolder();
  const images = fakeImages(folder);
  const processes = await openProcessSupervisor({ folder: `${folder}/processes` });
  const platform = processPlatform({
    folder: `${folder}/platform`,
    processes,
    resolveImage: images.resolveImage,
    secrets: async (namespace, name, key) => (key === "token" ? `${namespace}-${name}-value` : undefined),
    clock: systemClock,
    baseEnv: { PATH: "/usr/bin:/bin" },
    timing: { backOffMinMs: 100, backOffMaxMs: 800, drainMarginMs: 500 },
    ...options,
  });
  onTestFinished(async () => {
    await platform.close();
    await processes.close();
  });
  return { platform, makeImage: images.make, folder };
}

describe("the process platform", () => {
  platformContract(openPlatform);
});
