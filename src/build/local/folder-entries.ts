import { mkdir, readdir, readFile, readlink, stat, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { SlessError } from "../../errors/index.ts";
import type { LayerEntry } from "../layer/index.ts";

/** A layer is packed in memory. */
const LAYER_MAX_BYTES = 1024 * 1024 * 1024;
const READS_AT_ONCE = 16;

/**
 * What is below a folder, as it stands in a layer below `prefix` (`sless/image/deps/`). Links are not followed. What
 * Python compiled stays behind: it names the time of its source, which a layer does not keep.
 *
 * @throws SlessError `too_large`
 */
export async function entriesOfFolder(folder: string, prefix: string): Promise<LayerEntry[]> {
  const entries: LayerEntry[] = [];
  let bytes = 0;
  async function add(at: string, path: string): Promise<void> {
    const content = await readFile(at);
    bytes += content.byteLength;
    if (bytes > LAYER_MAX_BYTES)
      throw new SlessError("too_large", { what: "What was installed or built", limit: `${LAYER_MAX_BYTES} bytes` });
    entries.push({ path, content, executable: ((await stat(at)).mode & 0o100) !== 0 });
  }
  async function walk(at: string, below: string): Promise<void> {
    const found = await readdir(at, { withFileTypes: true });
    const files = found.filter((entry) => entry.isFile());
    for (let start = 0; start < files.length; start += READS_AT_ONCE) {
      const some = files.slice(start, start + READS_AT_ONCE);
      await Promise.all(some.map(({ name }) => add(join(at, name), below + name)));
    }
    for (const entry of found) {
      const [here, path] = [join(at, entry.name), below + entry.name];
      if (entry.isSymbolicLink()) entries.push({ path, target: await readlink(here) });
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
