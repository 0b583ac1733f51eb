import { join } from "node:path";
import type { BenchContext } from "../bench-context.ts";
import { startDevServer } from "../dev-server.ts";
import type { Figure } from "../figure.ts";
import { generateRepository, git } from "../generate-repository.ts";
import { median } from "../statistics.ts";
import { timeProcess } from "../timed-process.ts";

const SLESS = join(import.meta.dirname, "../../bin/sless.js");
const PULL_LOOP = join(import.meta.dirname, "../pull-loop.ts");
const FUNCTIONS = 1_000;
const RATIO_MAX = 3;
const ROUNDS = 9;

/** `sless pull` into a clone that has what the server has, against a script that fetches, reads, hashes and parses it. */
export async function measureUnchangedPull({ folder, say }: BenchContext): Promise<Figure[]> {
  const [bare, clone, data] = ["pulled.git", "clone", "data"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  await generateRepository(bare, FUNCTIONS);
  await git(["clone", "--quiet", bare, clone]);
  say(`pull: the first sync of ${FUNCTIONS} functions`);
  await using server = await startDevServer({ repository: bare, data });
  const { env, execPath: node } = process;
  const pull = { command: [node, SLESS, "pull", "--into", clone, "--endpoint", server.url], env, codes: [0] };
  const loop = { command: [node, PULL_LOOP, server.url, clone], env, codes: [0] };
  const times = { pull: [] as number[], loop: [] as number[] };
  await timeProcess(pull);
  await timeProcess(loop);
  for (let round = 1; round <= ROUNDS; round += 1) {
    say(`pull: ${round} of ${ROUNDS}`);
    times.pull.push((await timeProcess(pull)).wallMs);
    times.loop.push((await timeProcess(loop)).wallMs);
  }
  const [value, base] = [median(times.pull) / 1000, median(times.loop) / 1000];
  return [
    {
      name: `pull of ${FUNCTIONS} functions into an unchanged clone`,
      amount: { value, unit: "s" },
      baseline: { value: base, unit: "s", of: "bare script" },
      target: { text: `ratio ≤ ${RATIO_MAX}`, met: value / base <= RATIO_MAX },
      note: "the script fetches, reads, hashes and parses the same",
    },
  ];
}
