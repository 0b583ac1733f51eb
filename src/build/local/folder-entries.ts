import { createReadStream } from "node:fs";
import { mkdir, readdir, readlink, stat, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { SlessError } from "../../errors/index.ts";
import type { LayerEntry } from "../layer/index.ts";

/** No more entries than an image may have where it is unpacked: each stands in memory until the layer is written. */
const LAYER_MAX = { bytes: 1024 * 1024 * 1024, entries: 400_000 };

/**
 * What is below a folder, as it stands in a layer below `prefix` (`sless/image/deps/`); files are read when their turn comes.
 * Links are not followed. What Python compiled stays behind: it names the time of its source, which a layer does not keep.
 *
 * @param limits bytes of all files together, default 1 GiB; files, links and folders, default 400,000
 * @throws SlessError `too_large`
 */
export async function entriesOfFolder(
  folder: string,
  prefix: string,
  limits: { readonly bytes: number; readonly entries: number } = LAYER_MAX,
): Promise<LayerEntry[]> {
  const entries: LayerEntry[] = [];
  let bytes = 0;
  const tooLarge = (limit: string) => new SlessError("too_large", { what: "What was installed or built", limit });
  async function walk(at: string, below: string): Promise<void> {
    for (const entry of await readdir(at, { withFileTypes: true })) {
      if (entries.length >= limits.entries) throw tooLarge(`${limits.entries} files`);
      const [here, path] = [join(at, entry.name), below + entry.name];
      if (entry.isSymbolicLink()) entries.push({ path, target: await readlink(here) });
      if (entry.isFile()) {
        const { size, mode } = await stat(here);
        bytes += size;
        if (bytes > limits.bytes) throw tooLarge(`${limits.bytes} bytes`);
        entries.push({ path, size, stream: () => createReadStream(here), executable: (mode & 0o100) !== 0 });
      }
      if (!entry.isDirectory() || entry.name === "__pycache__") continue;
      entries.push({ path, folder: true });
      await walk(here, `${path}/`);
    }
  }
  await walk(folder, prefix);
  return entries;
}

/** Writes entries whose paths `place` gives a place; the others are left out. */
export async function writeEntries(
  entries: AsyncIterable<LayerEntry>,
  place: (path: string) => string | undefined,
): Promise<void> {
  for await (const entry of entries) {
    const at = place(entry.path);
    if (at === undefined) continue;
    await mkdir("folder" in entry ? at : dirname(at), { recursive: true });
    if ("target" in entry) await symlink(entry.target, at);
    else if (!("folder" in entry)) {
      const content = "content" in entry ? entry.content : entry.stream();
      await writeFile(at, content, { mode: entry.executable ? 0o755 : 0o644 });
    }
  }
}
