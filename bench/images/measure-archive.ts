import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { promisify } from "node:util";
import { packArchive } from "../../src/source/index.ts";
import type { Figure } from "../figure.ts";
import { median } from "../statistics.ts";

const run = promisify(execFile);
const FILES = 1_000;
const FILE_BYTES = 4_000;
const RATIO_MAX = 2;

/** Files of a folder into an archive in memory, beside `zip -r` of the same folder. */
export async function measureArchive(folder: string, rounds: number, say: (line: string) => void): Promise<Figure[]> {
  const source = join(folder, "source");
  await writeSource(source);
  const times = { sless: [] as number[], zip: [] as number[] };
  const bySless = async () => {
    const started = performance.now();
    await packArchive(await readFiles(source));
    times.sless.push(performance.now() - started);
  };
  const byZip = async () => {
    await rm(join(folder, "source.zip"), { force: true });
    const started = performance.now();
    await run("zip", ["-q", "-r", "../source.zip", "."], { cwd: source });
    times.zip.push(performance.now() - started);
  };
  for (let round = 0; round <= rounds; round += 1) {
    say(`archive: ${round} of ${rounds}`);
    for (const pack of round % 2 === 0 ? [bySless, byZip] : [byZip, bySless]) await pack();
  }
  const ratio = median(times.sless.slice(1).map((time, round) => time / times.zip[round + 1]!));
  return [
    {
      name: `archive of ${FILES} files of ${FILE_BYTES / 1_000} kB, p50 of ${rounds}`,
      amount: { value: median(times.sless.slice(1)), unit: "ms" },
      baseline: { value: median(times.zip.slice(1)), unit: "ms", of: "zip -r" },
      ratio,
      target: { text: `ratio ≤ ${RATIO_MAX}`, met: ratio <= RATIO_MAX },
    },
  ];
}

async function writeSource(folder: string): Promise<void> {
  for (let index = 0; index < FILES; index += 1) {
    const path = join(folder, `package-${index % 40}`, `module_${index}.py`);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, `VALUE = "${randomBytes(24).toString("hex")}"  # ${index}\n`.repeat(64).slice(0, FILE_BYTES));
  }
}

async function readFiles(folder: string) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Promise.all(
    paths.map(async (path) => ({
      path: relative(folder, path),
      mode: "100644" as const,
      content: await readFile(path),
    })),
  );
}
