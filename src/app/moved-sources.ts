import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ownerUidOf, refOf, refText } from "../apis/index.ts";
import type { S3Settings } from "../config/index.ts";
import type { ResourceStore } from "../resources/index.ts";
import type { ObjectStore } from "../storage/index.ts";

export interface MovedSourcesOptions {
  readonly data: string;
  readonly s3: S3Settings | undefined;
  readonly store: Pick<ResourceStore, "list">;
  readonly objects: Pick<ObjectStore, "has">;
  readonly notice: (message: string) => void;
}

const SHOWN = 10;

/**
 * Says what a start with another object store means: sources of repositories are stored anew by the next sync, and those
 * that were uploaded lie where they were. It is said at every start until none of these is missing.
 */
export async function noteMovedSources({ data, s3, store, objects, notice }: MovedSourcesOptions): Promise<void> {
  const file = join(data, "sources-in");
  const here = placeOf(s3);
  const before = (await readFile(file, "utf8").catch(() => "")).trim() || placeOf(undefined);
  if (before === here) return;
  const { uploads, isFollowing } = await movedFrom(store, objects);
  const moved = `Sources are in ${here} now, before in ${before}.`;
  if (uploads.length === 0) {
    if (isFollowing) notice(`${moved} The first sync stores those of repositories anew.`);
    await writeFile(file, `${here}\n`);
    return;
  }
  const named =
    uploads.slice(0, SHOWN).join(", ") + (uploads.length > SHOWN ? ` and ${uploads.length - SHOWN} more` : "");
  notice(
    `${moved} ${named} came by upload, and the archives are not here: what was ` +
      `built of them goes on. To build them anew, upload them again, or start once more with ${before}.`,
  );
}

function placeOf(s3: S3Settings | undefined): string {
  if (!s3) return "the data folder";
  return `the bucket ${s3.bucket}${s3.endpoint === undefined ? "" : ` at ${s3.endpoint}`}`;
}

/** Uploads whose archives are not here, which no repository would store anew; and whether there is anything of repositories. */
async function movedFrom(store: MovedSourcesOptions["store"], objects: MovedSourcesOptions["objects"]) {
  const uploads: string[] = [];
  let isFollowing = false;
  for (const kind of ["Function", "Service", "FunctionJob"] as const) {
    for (const object of (await store.list(kind)).items) {
      const { s3Key } = object.spec;
      if (s3Key === undefined) continue;
      if (ownerUidOf(object) !== undefined) isFollowing = true;
      else if (!(await objects.has(s3Key))) uploads.push(refText(refOf(object)));
    }
  }
  return { uploads, isFollowing };
}
