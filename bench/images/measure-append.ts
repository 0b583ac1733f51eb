import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { makeLayer } from "../../src/build/layer/index.ts";
import type { Runtime } from "../../src/runtimes/index.ts";
import { memoryObjectStore } from "../../test/support/memory-object-store.ts";
import type { Figure } from "../figure.ts";
import { median } from "../statistics.ts";
import { buildAll, codeOf, counted, type Moved, openBuilder, openClient, storeVersion } from "./bench-registry.ts";

const run = promisify(execFile);

export interface AppendBench {
  readonly host: string;
  readonly crane: string;
  readonly runtime: Runtime;
  readonly folder: string;
  readonly rounds: number;
  readonly functions: number;
  readonly say: (line: string) => void;
}

/** A change of a function's code: from the stored source to the image, beside `crane append` of the same layer. */
export async function measureAppend({ host, crane, runtime, folder, rounds, say }: AppendBench): Promise<Figure[]> {
  const moved: Moved = { sent: 0, fetched: 0 };
  const client = openClient(host);
  const objects = memoryObjectStore();
  const builder = openBuilder(counted(client, moved), objects, join(folder, "append"));
  const times = { sless: [] as number[], crane: [] as number[] };
  const sizes: number[] = [];

  async function bySless(version: number, code: Uint8Array): Promise<void> {
    const request = await storeVersion(objects, runtime, "changed", code);
    const before = { ...moved };
    times.sless.push(await timed(() => buildAll(builder, [request])));
    if (version > 0) sizes.push(moved.sent - before.sent + moved.fetched - before.fetched);
  }
  async function byCrane(version: number, code: Uint8Array): Promise<void> {
    const layer = join(folder, `${version}.tar.gz`);
    await writeFile(layer, (await makeLayer([{ path: "sless/image/source/handler.py", content: code }])).bytes);
    const args = ["append", "--insecure", "-b", `${host}/base:1`, "-f", layer, "-t", `${host}/crane:${version}`];
    times.crane.push(await timed(() => run(crane, args)));
  }

  try {
    for (let version = 0; version <= rounds; version += 1) {
      say(`append: ${version} of ${rounds}`);
      const code = codeOf("changed", version);
      for (const append of version % 2 === 0 ? [bySless, byCrane] : [byCrane, bySless]) await append(version, code);
    }
  } finally {
    await builder.close();
    await client.close();
  }
  // The first of each makes its repository.
  const [sless, baseline] = [median(times.sless.slice(1)), median(times.crane.slice(1))];
  const ratio = median(times.sless.slice(1).map((time, round) => time / times.crane[round + 1]!));
  return [
    {
      name: `append of 20 kB of changed code, p50 of ${rounds}`,
      amount: { value: sless, unit: "ms" },
      baseline: { value: baseline, unit: "ms", of: "crane append" },
      ratio,
      target: { text: "ratio ≤ 1", met: ratio <= 1 },
      note: `the first image took ${Math.round(times.sless[0]!)} ms, crane's ${Math.round(times.crane[0]!)} ms`,
    },
    {
      name: "bytes of layers and configurations that moved for it",
      amount: { value: Math.max(...sizes), unit: "count" },
      target: { text: "≤ 100000 (the base image has 30 MB)", met: Math.max(...sizes) <= 100_000 },
      note: "the most of all rounds, both ways",
    },
  ];
}

/** Many functions at once: all of them new, then all of them changed. */
export async function measureMany({ host, runtime, folder, functions, say }: AppendBench): Promise<Figure[]> {
  const client = openClient(host);
  const objects = memoryObjectStore();
  const builder = openBuilder(client, objects, join(folder, "many"));
  const names = Array.from({ length: functions }, (_, index) => `many-${index}`);
  const versions = async (version: number) =>
    Promise.all(names.map((name) => storeVersion(objects, runtime, name, codeOf(name, version))));
  try {
    say(`${functions} functions`);
    const [first, second] = [await versions(1), await versions(2)];
    const newMs = await timed(() => buildAll(builder, first));
    const changedMs = await timed(() => buildAll(builder, second));
    const again = openBuilder(client, objects, join(folder, "again"));
    const sameMs = await timed(() => buildAll(again, second));
    await again.close();
    return [
      {
        name: `${functions} functions changed at once`,
        amount: { value: changedMs / 1_000, unit: "s" },
        target: { text: "≤ 60 s", met: changedMs <= 60_000 },
        note: `all of them new: ${(newMs / 1_000).toFixed(1)} s; all of them there already, after a restart: ${(sameMs / 1_000).toFixed(1)} s`,
      },
    ];
  } finally {
    await builder.close();
    await client.close();
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}
