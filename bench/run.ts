/** `npm run bench`: measures what docs/performance.md describes, and prints one table. */

import { rmSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { findInterpreter, loadRuntimes } from "../src/runtimes/index.ts";
import type { BenchContext } from "./bench-context.ts";
import { type Figure, ratioOf } from "./figure.ts";
import { generateRepository } from "./generate-repository.ts";
import { describeMachine } from "./machine.ts";
import { measureColdPlan } from "./measures/cold-plan.ts";
import { measureGatewayOverhead } from "./measures/gateway-overhead.ts";
import { measurePushToAnswer } from "./measures/push-to-answer.ts";
import { measureSyncedRepository } from "./measures/synced-repository.ts";
import { measureUnchangedPull } from "./measures/unchanged-pull.ts";
import { measureUploadToAnswer } from "./measures/upload-to-answer.ts";
import { renderTable } from "./render-table.ts";

const ROOT = join(import.meta.dirname, "..");

const MEASURES: Readonly<Record<string, (context: BenchContext) => Promise<Figure[]>>> = {
  push: measurePushToAnswer,
  upload: measureUploadToAnswer,
  plan: measureColdPlan,
  sync: measureSyncedRepository,
  gateway: measureGatewayOverhead,
  pull: measureUnchangedPull,
};
const NAMES = Object.keys(MEASURES);

const HELP = `Usage: npm run bench -- [options]
  --only <name>    only ${NAMES.join(", ")}; may be repeated
  --count <n>      functions of the generated repository (default 10000)
  --pushes <n>     pushes per language (default 15)
  --json           print JSON instead of the table
  --help           show this
`;

const { values } = parseArgs({
  options: {
    only: { type: "string", multiple: true, default: NAMES },
    count: { type: "string", default: "10000" },
    pushes: { type: "string", default: "15" },
    json: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

if (values.help) process.stdout.write(HELP);
else await bench();

/** Prints the table; exit code 1 when a target is missed. */
async function bench(): Promise<void> {
  const wrong = values.only.filter((name) => !NAMES.includes(name));
  if (wrong.length > 0) throw new Error(`--only ${wrong.join(", ")}: use ${NAMES.join(", ")}`);
  const folder = await mkdtemp(join(tmpdir(), "sless-bench-"));
  process.once("SIGINT", () => {
    rmSync(folder, { recursive: true, force: true });
    process.exit(130);
  });
  try {
    const machine = await describeMachine(await interpreters());
    const figures = await measureAll(folder);
    const report = { date: new Date().toISOString(), machine, figures };
    const json = { ...report, figures: figures.map((figure) => ({ ...figure, ratio: ratioOf(figure) })) };
    process.stdout.write(values.json ? `${JSON.stringify(json, null, 2)}\n` : renderTable(report));
    if (figures.some(({ target }) => target?.met === false)) process.exitCode = 1;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function measureAll(folder: string): Promise<Figure[]> {
  const figures: Figure[] = [];
  let generated: Promise<string> | undefined;
  const count = positive("count", values.count);
  const pushes = positive("pushes", values.pushes);
  const say = (line: string) => process.stderr.write(`${line}\n`);
  async function generate(): Promise<string> {
    const repository = join(folder, "generated.git");
    await generateRepository(repository, count);
    return repository;
  }
  for (const name of NAMES.filter((one) => values.only.includes(one))) {
    const own = join(folder, name);
    await mkdir(own);
    const repository = () => (generated ??= generate());
    figures.push(...(await MEASURES[name]!({ folder: own, count, pushes, repository, say })));
  }
  return figures;
}

function positive(name: string, text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new Error(`--${name} ${text}: use a number from 1 on`);
  return Number(text);
}

/** Versions of what functions run on, found as the builder finds them. */
async function interpreters(): Promise<Record<string, string>> {
  const search = { path: process.env.PATH ?? "", excluded: [join(ROOT, "node_modules")] };
  const found: Record<string, string> = {};
  for (const [name, runtime] of await loadRuntimes(join(ROOT, "runtimes"))) {
    const interpreter = await findInterpreter(runtime, search);
    if (interpreter) found[name] = interpreter.version;
  }
  return found;
}
