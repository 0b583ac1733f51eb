/** `npm run bench:kubernetes`: what docs/performance.md describes for a cluster, as one table. */

import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startControlPlane } from "../../test/support/kubernetes/control-plane.ts";
import type { Figure } from "../figure.ts";
import { describeMachine } from "../machine.ts";
import { renderTable } from "../render-table.ts";
import { applyLoop } from "./apply-loop.ts";
import { measureSync, type SyncRound } from "./measure-sync.ts";
import { type Round, syncFigures } from "./sync-figures.ts";

const HELP = `Usage: npm run bench:kubernetes -- [options]
  --count <n>        functions of the generated repository (default 1000)
  --rounds <n>       of which the medians are told (default 5)
  --concurrency <n>  requests at a time of the bare loop (default 16, as of the sync)
  --json             print JSON instead of the table
  --help             show this
`;

const { values } = parseArgs({
  options: {
    count: { type: "string", default: "1000" },
    rounds: { type: "string", default: "5" },
    concurrency: { type: "string", default: "16" },
    json: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

if (values.help) process.stdout.write(HELP);
else await bench();

/** Prints the table; exit code 1 when a target is missed. */
async function bench(): Promise<void> {
  const machine = await describeMachine({});
  const figures = await measure();
  const report = { date: new Date().toISOString(), machine, figures };
  process.stdout.write(values.json ? `${JSON.stringify(report, null, 2)}\n` : renderTable(report));
  if (figures.some(({ target }) => target?.met === false)) process.exitCode = 1;
}

async function measure(): Promise<Figure[]> {
  const count = positive("count", values.count);
  const folder = await mkdtemp(join(tmpdir(), "sless-bench-"));
  try {
    // What the loop applies is what a first sync applied, whose own times do not count.
    const { bodies } = await syncOnce(folder, 0, count);
    const rounds: Round[] = [];
    for (let n = 1; n <= positive("rounds", values.rounds); n += 1) {
      process.stderr.write(`round ${n} of ${values.rounds}\n`);
      const loopMs = await loopOnce(bodies);
      rounds.push({ ...(await syncOnce(folder, n, count)), loopMs });
    }
    return syncFigures(rounds, count);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Each on an empty control plane of its own, so that both meet the same. */
async function loopOnce(bodies: string): Promise<number> {
  await using plane = await startControlPlane({ controllers: false });
  return await applyLoop(plane, bodies, positive("concurrency", values.concurrency));
}

async function syncOnce(folder: string, round: number, count: number): Promise<SyncRound> {
  await using plane = await startControlPlane();
  const own = join(folder, `round-${round}`);
  await mkdir(own);
  return await measureSync(plane, own, count);
}

function positive(name: string, text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new Error(`--${name} ${text}: use a number from 1 on`);
  return Number(text);
}
