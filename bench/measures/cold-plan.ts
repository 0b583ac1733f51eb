import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { BenchContext } from "../bench-context.ts";
import type { Figure } from "../figure.ts";
import { median } from "../statistics.ts";
import { type ProcessTime, type TimedRun, timeProcess } from "../timed-process.ts";

const SLESS = join(import.meta.dirname, "../../bin/sless.js");
const BARE_LOOP = join(import.meta.dirname, "../bare-loop.ts");
const RATIO_MAX = 1.5;
const ROUNDS = { native: 7, isomorphic: 7 } as const;

type Adapter = keyof typeof ROUNDS;

/** `sless plan` of the whole repository against the bare loop, both as processes, with both adapters. */
export async function measureColdPlan(context: BenchContext): Promise<Figure[]> {
  const withoutGit = join(context.folder, "empty");
  await mkdir(withoutGit, { recursive: true });
  return [
    ...(await measureAdapter("native", process.env, context)),
    ...(await measureAdapter("isomorphic", { ...process.env, PATH: withoutGit }, context)),
  ];
}

async function measureAdapter(adapter: Adapter, env: NodeJS.ProcessEnv, context: BenchContext): Promise<Figure[]> {
  const repository = await context.repository();
  const node = process.execPath;
  const plan = {
    command: [node, SLESS, "plan", "--repo", repository, "--head", "main", "-o", "json"],
    env,
    codes: [1],
  };
  const loop = { command: [node, BARE_LOOP, repository, adapter], env, codes: [0] };
  const times = await interleaved(plan, loop, ROUNDS[adapter], (round) =>
    context.say(`cold plan, ${adapter}: ${round} of ${ROUNDS[adapter]}`),
  );
  return [
    figureOf(`cold plan, ${adapter} git`, times, "wallMs", true),
    figureOf(`cold plan, ${adapter} git, user CPU`, times, "userMs", false),
  ];
}

interface Times {
  readonly plan: readonly ProcessTime[];
  readonly loop: readonly ProcessTime[];
}

/** One after the other, in turns, so that what else the machine does hits both. The first of each warms the disk's cache. */
async function interleaved(
  plan: TimedRun,
  loop: TimedRun,
  rounds: number,
  say: (round: number) => void,
): Promise<Times> {
  const times = { plan: [] as ProcessTime[], loop: [] as ProcessTime[] };
  await timeProcess(plan);
  await timeProcess(loop);
  for (let round = 1; round <= rounds; round += 1) {
    say(round);
    times.plan.push(await timeProcess(plan));
    times.loop.push(await timeProcess(loop));
  }
  return times;
}

function figureOf(name: string, { plan, loop }: Times, of: keyof ProcessTime, hasTarget: boolean): Figure {
  const middle = (times: readonly ProcessTime[]) => median(times.map((time) => time[of])) / 1000;
  // Round by round: the machine may have been slower in one than in the next.
  const ratio = median(plan.map((time, round) => time[of] / loop[round]![of]));
  return {
    name,
    amount: { value: middle(plan), unit: "s" },
    baseline: { value: middle(loop), unit: "s", of: "bare loop" },
    ratio,
    ...(hasTarget && { target: { text: `ratio ≤ ${RATIO_MAX}`, met: ratio <= RATIO_MAX } }),
  };
}
