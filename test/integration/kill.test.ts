import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect, it, onTestFailed } from "vitest";
import type { AnyObject } from "../../src/apis/index.ts";
import { answering, callFunction, pythonFunction } from "../support/embedded.ts";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-ports.ts";
import { document } from "../support/function-files.ts";
import { type GitRepository, gitRepository } from "../support/git-repository.ts";
import { type SeededRandom, seededRandom } from "../support/seeded-random.ts";
import { allGone, childrenOf, type SlessProcess, startSless } from "../support/sless-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { openFunctionHistory } from "./function-history.ts";

const KILLS = 12;
const DELAY_MAX_MS = 700;
/** Each life starts a server, which takes a minute beside ten other runs. */
const LIVES_MAX_MS = 20 * 60_000;

it(
  "killed at any moment, it converges after a restart: nothing lost, nothing made twice, nothing left over",
  async () => {
    const random = seededRandom("kill test");
    const told: string[] = [];
    onTestFailed(() => console.info(`SLESS_SEED=${random.seed}\n${told.join("\n")}`));
    const history = openFunctionHistory(random);
    const runs = join(await temporaryFolder(), "runs");
    const repository = await gitRepository({ ...history.files(), ...STEADY, ...jobOnce(runs) });
    const data = join(await temporaryFolder(), "data");
    const life = await livesOf(repository, data, random);
    const uids = uidWatch(history.mayBeAnew);

    for (let kill = 0; kill < KILLS; kill++) {
      // The first life settles, so that its job has run; no later life may run it again.
      const moment = kill === 0 ? "when it has settled" : random.pick(MOMENTS);
      const change = history.change();
      told.push(`${kill}: ${change.message}, killed ${moment}`);
      const push = () => repository.commit(change.message, change.files);
      await life.liveAndDie(moment, push, async (server) => {
        uids.observe(await server.objects());
        await history.confirm((name) => answerOf(server, name));
      });
    }

    const server = await life.start();
    const commit = await repository.git("rev-parse", "HEAD");
    await server.settled(commit);
    const steady = ["steady", "always"].map((name) => ({ name, isExpected: (answer: unknown) => answer === name }));
    for (const { name, isExpected } of [...history.expected(), ...steady]) {
      await eventually(`the answer of ${name}`, () => answerOf(server, name), isExpected);
    }
    expect(await readFile(runs, "utf8")).toBe("run\n");
    await expectSameAsFresh(server, repository, commit);
    uids.observe(await server.objects());
    await expectWholeData(server);
    server.kill("SIGTERM");
    await server.exited();
    await allGone(life.children);
    await expect(fetch(server.url)).rejects.toThrow("fetch failed");
  },
  LIVES_MAX_MS,
);

/** What no change touches: a function and a service that serve, and some functions that only stand there. */
const STEADY = {
  ...pythonFunction("steady", answering("steady")),
  "services/always/service.yaml": document("Service", "always", { runtime: "python3.11" }),
  "services/always/handler.py": answering("always"),
  ...Object.assign({}, ...[1, 2, 3, 4].map((n) => pythonFunction(`idle-${n}`, answering(n), { replicas: 0 }))),
};

/** A job that writes down every run. */
const jobOnce = (runs: string) => ({
  "jobs/once/job.yaml": document("FunctionJob", "once", { runtime: "python3.11", runID: 1, env: { RUNS: runs } }),
  "jobs/once/handler.py": 'import os\ndef handle(event, context):\n    open(os.environ["RUNS"], "a").write("run\\n")\n',
});

const MOMENTS = ["while it starts", "after a push", "when it has settled"] as const;
type Moment = (typeof MOMENTS)[number];

async function livesOf({ dir }: GitRepository, data: string, random: SeededRandom) {
  const port = await freePort();
  const children: number[] = [];
  const start = () => startSless(dir, { data, port });

  async function die(server: SlessProcess): Promise<void> {
    children.push(...(await childrenOf(server)));
    server.kill("SIGKILL");
    await server.exited();
    children.push(...(await childrenOf(server)));
  }

  return {
    children,
    start,
    /** Starts, pushes, and is killed; `observe` looks where it lived long enough to settle. */
    async liveAndDie(moment: Moment, push: () => Promise<string>, observe: (server: SlessProcess) => Promise<void>) {
      if (moment === "while it starts") await push();
      const server = await start();
      if (moment !== "while it starts") {
        await server.ready();
        const commit = await push();
        if (moment === "when it has settled") {
          await server.settled(commit);
          await observe(server);
        }
      }
      await setTimeout(random.below(DELAY_MAX_MS)); // the moment of death, which is the test's input
      await die(server);
    },
  };
}

/** The answer of a function; undefined when none of its replicas answers. */
async function answerOf({ url }: SlessProcess, name: string): Promise<unknown> {
  const { status, body } = await callFunction(`${url}/fn/default/${name}`);
  return status === 200 ? body : undefined;
}

/** Holds every object to the UID that it had when it was seen last, unless it was deleted meanwhile. */
function uidWatch(mayBeAnew: Set<string>) {
  const known = new Map<string, string>();
  return {
    observe(objects: readonly AnyObject[]) {
      for (const { kind, metadata } of objects) {
        const id = `${kind}/${metadata.name}`;
        const before = known.get(id);
        if (before !== undefined && !mayBeAnew.has(id)) expect(`${id} ${metadata.uid}`).toBe(`${id} ${before}`);
        known.set(id, metadata.uid);
      }
      const present = new Set(objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`));
      for (const id of mayBeAnew) if (!present.has(id)) known.delete(id);
      mayBeAnew.clear();
    },
  };
}

/** What a server that never saw anything but the last commit comes to. */
async function expectSameAsFresh(server: SlessProcess, { dir }: GitRepository, commit: string): Promise<void> {
  const fresh = await startSless(dir, { data: join(await temporaryFolder(), "data") });
  await fresh.settled(commit);
  const wanted = comparable(await fresh.objects());
  await eventually(
    `the objects are those of a fresh server, which are\n${JSON.stringify(wanted, null, 2)}\n`,
    async () => comparable(await server.objects()),
    (seen) => JSON.stringify(seen) === JSON.stringify(wanted),
  );
}

function comparable(objects: readonly AnyObject[]): unknown[] {
  return objects
    .map(({ kind, metadata, spec, status }) => {
      const { phase, lastAppliedRevision, active } = (status ?? {}) as Record<string, unknown>;
      return { kind, name: metadata.name, spec, phase, lastAppliedRevision, active };
    })
    .sort((a, b) => (`${a.kind}/${a.name}` < `${b.kind}/${b.name}` ? -1 : 1));
}

/** No archive that an object names is missing, and nothing half made lies about. */
async function expectWholeData(server: SlessProcess): Promise<void> {
  const { data } = server;
  for (const { metadata, spec } of await server.objects()) {
    const key = (spec as { s3Key?: string }).s3Key;
    if (key !== undefined)
      expect((await stat(join(data, "objects/objects", key))).size, metadata.name).toBeGreaterThan(0);
  }
  const images = await readdir(join(data, "builds/images"));
  for (const image of images) expect(await readdir(join(data, "builds/images", image))).toContain("image.json");
  // What it tidies up it may tidy up after its status is told.
  const halfMade = async () =>
    (await readdir(data, { recursive: true })).filter((path) => /(^|\/)(tmp|incoming)\/|\.draft$/.test(path));
  await eventually(
    "nothing half made is left",
    () => halfMade().catch(String),
    (left) => left.length === 0,
  );
}
