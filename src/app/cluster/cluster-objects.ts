import { join } from "node:path";
import type { ClusterSettings } from "../../config/index.ts";
import type { TimerClock } from "../../controller/index.ts";
import { claimingStore } from "../../garbage/index.ts";
import { openFilesystemStore } from "../../storage/filesystem/index.ts";
import type { ObjectStore } from "../../storage/index.ts";
import { openS3Store } from "../../storage/s3/index.ts";
import type { Closers } from "../closers.ts";

export interface ClusterObjects {
  readonly objects: ObjectStore;
  /** The same without the claims that keep what is stored from being collected: for the collector alone. */
  readonly stored: ObjectStore;
  /** Name of the bucket, where it is one. */
  readonly s3Bucket?: string;
  /** An address at which one object may be read for some seconds; undefined where there are none. */
  readonly presignedGet?: (key: string, seconds: number) => Promise<string>;
}

/** Sources go into the bucket; without one into the data folder, which on a cluster must be the same for controller and api. */
export async function openClusterObjects(
  { s3, data }: Pick<ClusterSettings, "s3" | "data">,
  clock: TimerClock,
  closers: Closers,
): Promise<ClusterObjects> {
  if (!s3) {
    const stored = await openFilesystemStore(join(data, "objects"));
    return { objects: claimingStore(stored, clock), stored };
  }
  const { endpoint, credentials, ...rest } = s3;
  const stored = await openS3Store({
    ...rest,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(credentials ? { credentials } : {}),
  });
  closers.defer(() => stored.close());
  return { objects: claimingStore(stored, clock), stored, s3Bucket: s3.bucket, presignedGet: stored.presignedGet };
}
