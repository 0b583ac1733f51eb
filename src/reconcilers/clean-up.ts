import type { ObjectOf, WorkloadKind, WorkloadRef } from "../apis/index.ts";
import type { Builder } from "../build/index.ts";
import { type Next, withoutFinalizer } from "../controller/index.ts";
import type { Platform } from "../platform/index.ts";
import type { ResourceStore } from "../resources/index.ts";

export interface CleanUpDeps {
  readonly store: Pick<ResourceStore, "patch">;
  readonly builder: Pick<Builder, "cancel">;
  readonly platform: Pick<Platform, "remove" | "state">;
  /** Asks whoever knows for certain. Default: what `store` tells is certain. */
  isGone?(ref: WorkloadRef): Promise<boolean>;
}

/** A memory that lacks an object which is there is mended by its watch. */
const ASK_AGAIN_MS = 5_000;

/**
 * Ends everything that was made for a workload that is gone or going, and lets a going one go. The finalizer is the
 * last to fall: whenever sless is stopped in between, the object is still there for the next start to look after.
 * Nothing that runs is ended because an object is missing in a memory: a list may lack it for reasons of its own.
 */
export async function cleanUp<K extends WorkloadKind>(
  ref: WorkloadRef,
  object: ObjectOf<K> | undefined,
  { store, builder, platform, isGone }: CleanUpDeps,
): Promise<Next> {
  if (!object && isGone && (await platform.state(ref)) && !(await isGone(ref)))
    return { kind: "after", ms: ASK_AGAIN_MS };
  await builder.cancel(ref);
  await platform.remove(ref);
  if (object) await withoutFinalizer(object, store, "reconciler");
  return { kind: "done" };
}
