import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { Client } from "undici";
import type { ObjectOf } from "../../src/apis/index.ts";
import { createClient } from "../../src/server/client.ts";
import type { BenchContext } from "../bench-context.ts";
import { type Chain, chainOf, startDevServer } from "../dev-server.ts";
import type { Figure } from "../figure.ts";
import { startFunctionServer } from "../function-server.ts";
import { median, percentile } from "../statistics.ts";
import { makeVersionedRepository, NODE, PYTHON, type VersionedFunction } from "../two-languages.ts";

/** Both the answer and the baseline's health are asked for so often. */
const POLL_MS = 5;
/** The old replica ends and the status is written: that is none of the next measurement's work. */
const QUIET_MS = 500;
const BEYOND_START_MS = 400;
const LANGUAGES = [PYTHON, NODE];

interface Samples {
  readonly pushes: number[];
  readonly starts: number[];
  readonly chains: Chain[];
}

/**
 * From the end of `git push` to the first answer of the new code, against the time that the function's own process
 * needs from its start until it is healthy, in turns.
 */
export async function measurePushToAnswer(context: BenchContext): Promise<Figure[]> {
  const data = join(context.folder, "data");
  const repository = await makeVersionedRepository(context.folder);
  await using server = await startDevServer({ repository: repository.bare, data });
  const api = createClient({ endpoint: server.url });
  const http = new Client(server.url);
  const samples = new Map(
    LANGUAGES.map((subject): [VersionedFunction, Samples] => [subject, { pushes: [], starts: [], chains: [] }]),
  );
  try {
    for (let version = 1; version <= context.pushes; version += 1) {
      context.say(`push to answer: ${version} of ${context.pushes}`);
      for (const subject of LANGUAGES) {
        const { pushes, starts, chains } = samples.get(subject)!;
        const since = server.output.count();
        await repository.commit(subject, version);
        await repository.push();
        pushes.push(await untilAnswer(http, subject, version));
        chains.push(
          await server.output.find(`the end of ${subject.name}`, (line) => servingChain(line, subject), since),
        );
        await wait(QUIET_MS);
        const object = await api.getObject("functions", subject.name, { namespace: "default" });
        await using process = await startFunctionServer(object as ObjectOf<"Function">, data, POLL_MS);
        starts.push(process.startMs);
      }
    }
  } finally {
    await Promise.all([api.close(), http.destroy()]);
  }
  return [...samples].map(([subject, found]) => figureOf(subject, found));
}

async function untilAnswer(http: Client, { name }: VersionedFunction, version: number): Promise<number> {
  const startedMs = performance.now();
  for (;;) {
    const { statusCode, body } = await http.request({ method: "GET", path: `/fn/default/${name}` });
    const text = await body.text();
    if (statusCode !== 200) throw new Error(`${name} answered ${statusCode} ${text} during its rollout`);
    if ((JSON.parse(text) as { version: number }).version === version) return performance.now() - startedMs;
    await wait(POLL_MS);
  }
}

function servingChain(line: string, { name }: VersionedFunction): Chain | undefined {
  const chain = chainOf(line);
  return chain?.title === name && "serving" in chain.steps ? chain : undefined;
}

function figureOf({ runtime }: VersionedFunction, { pushes, starts, chains }: Samples): Figure {
  const [value, base] = [median(pushes), median(starts)];
  const names = Object.keys(chains[0]?.steps ?? {});
  const steps = names.map((name) => `${name} ${Math.round(median(chains.map((chain) => chain.steps[name] ?? 0)))} ms`);
  return {
    name: `push to answer, ${runtime}, p50 of ${pushes.length}`,
    amount: { value, unit: "ms" },
    baseline: { value: base, unit: "ms", of: "process start" },
    target: { text: `≤ baseline + ${BEYOND_START_MS} ms`, met: value <= base + BEYOND_START_MS },
    note: `${Math.round(value - base)} ms beyond the baseline; p90 ${Math.round(percentile(pushes, 90))} ms against ${Math.round(percentile(starts, 90))} ms; medians of the steps: ${steps.join(", ")}`,
  };
}
