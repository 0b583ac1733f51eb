import { copyFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as wait } from "node:timers/promises";
import type { BenchContext } from "../bench-context.ts";
import { type Chain, chainOf, type DevServer, startDevServer, syncRunOf } from "../dev-server.ts";
import { type Amount, atMost, type Figure } from "../figure.ts";
import { changeOneFunction, generateRepository, git } from "../generate-repository.ts";
import { type Memory, memoryOf, userMsOf } from "../process-figures.ts";
import { median } from "../statistics.ts";

const ROUNDS = 15;
const PLAN_MAX_MS = 150;
const QUIET_SYNC_MAX_MS = 50;
const MEMORY_MAX_MB = 400;
/** Statuses of the last functions are written and the collector had its turn. */
const SETTLE_MS = 5_000;

/** One running process with the generated repository synced: memory, a commit that changes one folder, and none. */
export async function measureSyncedRepository(context: BenchContext): Promise<Figure[]> {
  const { count, say } = context;
  const [bare, data] = [join(context.folder, "synced.git"), join(context.folder, "data")];
  await generateRepository(bare, count);
  say(`synced repository: the first sync of ${count} functions`);
  await using server = await startDevServer({ repository: bare, data });
  await wait(SETTLE_MS);
  const settled = await memoryOf(server.pid);
  const commits = await measureCommits(server, bare, say);
  const quiet = await measureQuietSyncs(server, bare, data, context);
  await wait(SETTLE_MS);
  const after = await memoryOf(server.pid);
  return [
    {
      name: `first sync of ${count} functions, until all are Ready`,
      amount: { value: server.settledMs / 1000, unit: "s" },
    },
    ...commits,
    ...quiet,
    ...(settled && after ? memoryFigures(settled, after) : []),
  ];
}

async function measureCommits(server: DevServer, bare: string, say: BenchContext["say"]): Promise<Figure[]> {
  const chains: Chain[] = [];
  const runs: number[] = [];
  const userBefore = await userMsOf(server.pid);
  for (let round = 1; round <= ROUNDS; round += 1) {
    say(`synced repository: commit ${round} of ${ROUNDS}`);
    const [said, logged] = [server.output.count(), server.log.count()];
    await changeOneFunction(bare, round);
    chains.push(await server.output.find("an applied commit", appliedChain, said));
    runs.push(await server.log.find("the run of the commit", syncRunOf, logged));
    await wait(SETTLE_MS / 10);
  }
  const userAfter = await userMsOf(server.pid);
  const planned: Amount = { value: median(chains.map(({ steps }) => steps.fetched! + steps.planned!)), unit: "ms" };
  return [
    { name: "one-folder commit, fetched and planned", amount: planned, target: atMost(PLAN_MAX_MS, planned) },
    {
      name: "one-folder commit, the whole sync",
      amount: { value: median(runs), unit: "ms" },
      note: `fetched, read, planned, stored, applied and told in the status; medians of ${ROUNDS} commits`,
    },
    ...(userBefore === undefined || userAfter === undefined ? [] : [userFigure((userAfter - userBefore) / ROUNDS)]),
  ];
}

function userFigure(value: number): Figure {
  return {
    name: "one-folder commit, user CPU of the server",
    amount: { value, unit: "ms" },
    note: "of all that follows from a commit, the reconcile of the function and the collector's work too",
  };
}

function appliedChain(line: string): Chain | undefined {
  const chain = chainOf(line);
  return chain && "applied" in chain.steps ? chain : undefined;
}

/** A new branch beside the one that is followed: the sync is woken and finds nothing new. */
async function measureQuietSyncs(
  server: DevServer,
  bare: string,
  data: string,
  { folder, say }: BenchContext,
): Promise<Figure[]> {
  const runs: number[] = [];
  const before = await storeVersion(data, join(folder, "copy-before"));
  for (let round = 1; round <= ROUNDS; round += 1) {
    say(`synced repository: sync without a change ${round} of ${ROUNDS}`);
    const logged = server.log.count();
    await git(["update-ref", `refs/heads/beside-${round}`, "refs/heads/main"], bare);
    runs.push(await server.log.find("the run without a change", syncRunOf, logged));
    await wait(SETTLE_MS / 20);
  }
  const after = await storeVersion(data, join(folder, "copy-after"));
  const duration: Amount = { value: median(runs), unit: "ms" };
  const writes: Amount = { value: after - before, unit: "count" };
  return [
    { name: "sync without a change", amount: duration, target: atMost(QUIET_SYNC_MAX_MS, duration) },
    { name: `writes of ${ROUNDS} such syncs`, amount: writes, target: { text: "0", met: writes.value === 0 } },
  ];
}

/** The last resourceVersion that the store gave out: each write takes the next. The server holds the file itself. */
async function storeVersion(data: string, copy: string): Promise<number> {
  await mkdir(copy);
  for (const name of ["resources.db", "resources.db-wal"]) await copyFile(join(data, name), join(copy, name));
  const database = new DatabaseSync(join(copy, "resources.db"));
  try {
    return Number(database.prepare("SELECT version FROM store").get()!.version);
  } finally {
    database.close();
  }
}

function memoryFigures(settled: Memory, after: Memory): Figure[] {
  const resident: Amount = { value: Math.max(settled.residentMB, after.residentMB), unit: "MB" };
  return [
    {
      name: "resident memory",
      amount: resident,
      target: atMost(MEMORY_MAX_MB, resident),
      note: `the greater of ${Math.round(settled.residentMB)} MB after the first sync and ${Math.round(after.residentMB)} MB after the commits`,
    },
    { name: "resident memory, peak", amount: { value: after.peakMB, unit: "MB" } },
  ];
}
