import type { SourceFile } from "../plan/index.ts";
import { type GitObjects, isLfsPointer, type ObjectId, strayLinks } from "../source/index.ts";
import { readInBulk, sizesInBulk } from "./bulk.ts";
import type { Fault } from "./fault.ts";
import type { DesiredLimits } from "./limits.ts";
import { below } from "./paths.ts";
import { whatOf } from "./source-files.ts";

/** A Git LFS pointer without extensions has 126 to 145 bytes; only blobs of about that size are looked into. */
const POINTER_BYTES = { min: 120, max: 200 };
/** A longer target is no path of any file system. */
const MAX_TARGET_BYTES = 4096;

export interface SourceToCheck {
  readonly path: string;
  readonly files: readonly SourceFile[];
}

export interface SourceContent {
  /** Of all files together. */
  readonly bytes: number;
  /** Too many bytes, links that leave, LFS pointers. */
  readonly faults: readonly Fault[];
}

/** What the blobs of sources tell about them. Reads for all sources together; the result is in their order. */
export async function checkContents(
  git: GitObjects,
  sources: readonly SourceToCheck[],
  limits: DesiredLimits,
): Promise<SourceContent[]> {
  const files = sources.flatMap((source) => source.files);
  const sizes = await sizesInBulk(
    git,
    files.map((file) => file.id),
  );
  const texts = await smallBlobs(git, files, sizes);
  return sources.map((source) => {
    const bytes = source.files.reduce((sum, file) => sum + sizes.get(file.id)!, 0);
    const ofSize = sizeFaults(source, bytes, limits.maxSourceBytes);
    return { bytes, faults: [...ofSize, ...linkFaults(source, texts), ...pointerFaults(source, texts)] };
  });
}

/** Text of links and of what may be an LFS pointer. */
async function smallBlobs(
  git: GitObjects,
  files: readonly SourceFile[],
  sizes: ReadonlyMap<ObjectId, number>,
): Promise<Map<ObjectId, string>> {
  const wanted = new Set<ObjectId>();
  for (const { id, mode } of files) {
    const size = sizes.get(id)!;
    if (mode === "120000" ? size <= MAX_TARGET_BYTES : size >= POINTER_BYTES.min && size <= POINTER_BYTES.max)
      wanted.add(id);
  }
  const texts = new Map<ObjectId, string>();
  await readInBulk(git, [...wanted], sizes, (id, bytes) => texts.set(id, Buffer.from(bytes).toString()));
  return texts;
}

function sizeFaults(source: SourceToCheck, bytes: number, limit: number): Fault[] {
  if (bytes <= limit) return [];
  const details = {
    what: whatOf(source.path),
    actual: `${mebibytes(bytes)}, more than ${mebibytes(limit)}`,
    limit: mebibytes(limit),
  };
  return [{ code: "source_too_large", details }];
}

function mebibytes(bytes: number): string {
  return bytes < 1024 * 1024 ? `${bytes} bytes` : `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}

function linkFaults(source: SourceToCheck, texts: ReadonlyMap<ObjectId, string>): Fault[] {
  const links = new Map<string, string>();
  for (const file of source.files) {
    // A target that was too long to be read leads nowhere good.
    if (file.mode === "120000") links.set(file.path, texts.get(file.id) ?? "/");
  }
  return strayLinks(links).map(({ path: inSource, leads }): Fault => {
    const path = below(source.path, inSource);
    if (leads === "outside") return { code: "source_escapes", details: { path } };
    return { code: "source_unsupported", details: { path, what: "a link that leads in a circle, or too far" } };
  });
}

function pointerFaults(source: SourceToCheck, texts: ReadonlyMap<ObjectId, string>): Fault[] {
  return source.files
    .filter((file) => file.mode !== "120000" && isLfsPointer(texts.get(file.id) ?? ""))
    .map(({ path }) => ({
      code: "source_unsupported",
      details: { path: below(source.path, path), what: "a Git LFS pointer" },
    }));
}
