import type { Parsed, SettingReader } from "./setting-reader.ts";

/** How long what nothing refers to any more stays. */
export interface GarbageSettings {
  /** Sources, contexts of builds, images of functions. `GARBAGE_GRACE`, default 24 hours. */
  readonly graceMs: number;
  /** Images that others stand on: dependencies, base images. `GARBAGE_SHARED_GRACE`, default 30 days. */
  readonly sharedGraceMs: number;
  /** Between two looks. `GARBAGE_EVERY`, default an hour. */
  readonly everyMs: number;
}

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

export function readGarbage(read: SettingReader<never>): GarbageSettings {
  return Object.freeze({
    graceMs: read("GARBAGE_GRACE", undefined, parseDuration, 24 * 3_600_000),
    sharedGraceMs: read("GARBAGE_SHARED_GRACE", undefined, parseDuration, 30 * 86_400_000),
    everyMs: read("GARBAGE_EVERY", undefined, parseDuration, 3_600_000),
  });
}

function parseDuration(text: string): Parsed<number> {
  const [, amount = "", unit = ""] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const ms = Number(amount) * (UNITS[unit] ?? 0);
  return ms > 0 ? { value: ms } : { fault: `"${text}" is no duration: write for example 12h or 30d` };
}
