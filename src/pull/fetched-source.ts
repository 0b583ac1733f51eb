import { looksLikeManifest } from "../manifest/index.ts";
import { type ArchiveFile, sourceDigest } from "../source/index.ts";
import { type FolderFile, fileInMemory, type ObjectFormat } from "./folder-files.ts";

/** A source as the server has it: its files by their paths, or why it cannot be written. */
export type FetchedSource = { readonly files: ReadonlyMap<string, FolderFile> } | { readonly fault: string };

/** Sources by the digest that names them. */
export type FetchedSources = ReadonlyMap<string, FetchedSource>;

/**
 * The files of a downloaded archive, as the folder's Git names them. It must be the source that the object named when it
 * was listed, and hold no manifest: written into a folder, that would define objects of its own.
 */
export function fetchedSource(archive: readonly ArchiveFile[], digest: string, format: ObjectFormat): FetchedSource {
  const inFormat = (one: ObjectFormat) =>
    new Map(archive.map(({ path, mode, content }) => [path, fileInMemory(content, mode, one)]));
  const files = inFormat(format);
  const formats: readonly ObjectFormat[] = format === "sha1" ? ["sha256"] : ["sha1"];
  const isNamed = digestOf(files) === digest || formats.some((other) => digestOf(inFormat(other)) === digest);
  if (!isNamed) return { fault: "its source became another one meanwhile; pull again" };
  const manifest = archive.find(
    ({ path, mode, content }) => mode !== "120000" && looksLikeManifest(path, new TextDecoder().decode(content)),
  );
  if (manifest) return { fault: `its source holds ${manifest.path}, which would be a manifest here` };
  return { files };
}

/** The digest that names these files as a source. */
export function digestOf(files: ReadonlyMap<string, FolderFile>): string {
  return sourceDigest([...files].map(([path, { mode, id }]) => ({ path, mode, id })));
}
