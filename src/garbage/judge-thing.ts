import type { References } from "./references.ts";
import type { Thing } from "./thing.ts";

/** What becomes of a thing. */
export type Verdict =
  | { readonly action: "keep"; readonly why: string }
  /** It is not referred to, and was used or found so a short time ago. */
  | { readonly action: "wait"; readonly why: string; readonly goesAt: Date }
  | { readonly action: "remove"; readonly why: string };

export interface Judged {
  readonly thing: Thing;
  readonly references: References;
  /** Layers of images that serve. */
  readonly layers: ReadonlySet<string>;
  /** Since when it is known to be unused; undefined: it was not, when it was last looked at. */
  readonly unusedSince: Date | undefined;
  readonly now: Date;
  readonly graceMs: number;
}

/**
 * A thing is removed when nothing refers to it, and nothing has for the grace time: since it was found unused, and since
 * it was made or used, whichever is later. Pure.
 */
export function judgeThing({ thing, references, layers, unusedSince, now, graceMs }: Judged): Verdict {
  const why = referrerOf(thing, references, layers);
  if (why !== undefined) return { action: "keep", why };
  const since = Math.max((unusedSince ?? now).getTime(), thing.usedAt?.getTime() ?? 0);
  const goesAt = new Date(since + graceMs);
  const told = `nothing refers to it since ${(unusedSince ?? now).toISOString()}`;
  return unusedSince === undefined || goesAt > now
    ? { action: "wait", why: told, goesAt }
    : { action: "remove", why: told };
}

/** Who refers to a thing, in words; undefined when nobody does. */
export function referrerOf(
  { id, sort, image }: Thing,
  { keys, images, sources, folders }: References,
  layers: ReadonlySet<string>,
): string | undefined {
  if (sort === "log") return folders.has(workloadFolder(id)) ? "its workload is there" : undefined;
  if (!image) return keys.get(id);
  const named = images.get(image.digest);
  if (named !== undefined || sort === "image") return named ?? wantedBy(image, sources);
  const top = image.details?.layers.at(-1);
  // What cannot be told is not removed.
  if (top === undefined) return "it has no layer that could tell what stands on it";
  return layers.has(top) ? "an image that serves stands on it" : undefined;
}

/** Logs of builds lie below `builds/` as sources do. */
function workloadFolder(id: string): string {
  return id.slice(id.indexOf("/") + 1, id.lastIndexOf("/") + 1);
}

/** A build of the source that is wanted now would be answered with it. */
function wantedBy(
  { repository, isNewest, details }: NonNullable<Thing["image"]>,
  sources: References["sources"],
): string | undefined {
  const source = details?.sourceDigest;
  if (!isNewest || source === undefined) return undefined;
  return sources.get(repository)?.has(source) ? "it is the image of a source that is wanted" : undefined;
}
