import type { Logger } from "pino";
import type { Settings } from "../config/index.ts";
import { systemClock } from "../controller/index.ts";
import { type Garbage, startGarbage } from "../garbage/index.ts";
import type { Platform } from "../platform/index.ts";
import type { EmbeddedPorts } from "./embedded-ports.ts";

interface Options {
  readonly log: Logger;
  readonly settings: Pick<Settings, "garbage">;
}

/** Collects sources and images of this machine that nothing refers to any more. */
export function startEmbeddedGarbage(
  { store, stored, collected, platform }: EmbeddedPorts,
  { log, settings }: Options,
): Garbage {
  return startGarbage({
    ...settings.garbage,
    store,
    objects: stored,
    ...collected,
    running: () => imagesOf(platform),
    isAlone: true,
    clock: systemClock,
    log,
  });
}

async function imagesOf(platform: Pick<Platform, "list" | "state">): Promise<string[]> {
  const states = await Promise.all((await platform.list()).map((ref) => platform.state(ref)));
  return states.flatMap((state) => state?.servingImageRef ?? []);
}
