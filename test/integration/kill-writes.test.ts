import { join } from "node:path";
import { expect, it, onTestFailed } from "vitest";
import { type AnyObject, type ObjectOf, ownerUidOf } from "../../src/apis/index.ts";
import { packArchive } from "../../src/source/index.ts";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-ports.ts";
import { functionYaml, handler } from "../support/function-files.ts";
import { type GitRepository, gitRepository } from "../support/git-repository.ts";
import { type SeededRandom, seededRandom } from "../support/seeded-random.ts";
import { type SlessProcess, startSless } from "../support/sless-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { type Belief, openBelief, openWrites, type State, type Write } from "./written-functions.ts";

const LIVES = 8;
const ANSWERS_MAX = 100;
const WRITES_A_LIFE = 100;
const PUSHES_A_LIFE = 4;

/** Of the repository all along; written by both; never in the repository. */
const STEADY = ["steady-1", "steady-2", "steady-3", "steady-4"];
const CONTESTED = ["contested-1", "contested-2", "contested-3"];
const REST = ["rest-1", "rest-2", "rest-3"];

it("killed while pushes and REST writes are under way, it keeps what it acknowledged and tells why it refused", async () => {
  const random = seededRandom("kill of writes");
  const told: string[] = [];
  onTestFailed(() => console.info(`SLESS_SEED=${random.seed}\n${told.join("\n")}`));
  const pushes = await openPushes(random);
  const start = await livesOf(pushes.repository);
  const beliefs = [
    ...STEADY.map((name) => openBelief(name, "owned", false)),
    ...CONTESTED.map((name) => openBelief(name, "absent", true)),
    ...REST.map((name) => openBelief(name, "absent", false)),
  ];
  const draw = openWrites(random);

  for (let life = 0; life < LIVES; life += 1) {
    const server = await start();
    if (life === 0) await server.settled(pushes.repository.head);
    await seeAll(server, beliefs);
    const lots = beliefs.map((belief) => ({ belief, writes: Array.from({ length: WRITES_A_LIFE }, draw) }));
    // It dies at an answer of one, in the midst of all others.
    const last = 1 + random.below(ANSWERS_MAX);
    let left = last;
    const onAnswer = () => {
      left -= 1;
      if (left === 0) server.kill("SIGKILL");
    };
    const ends = lots.map((lot) => writeUntilDead(server, lot, onAnswer));
    const [{ signal }, pushed, ...counts] = await Promise.all([server.exited(), pushes.pushSome(), ...ends]);
    expect(signal, server.output()).toBe("SIGKILL");
    told.push(`${life}: killed at answer ${last}, had ${counts.join(" ")}; pushed ${pushed.join(", ")}`);
  }

  const server = await start();
  await server.settled(await pushes.repository.git("rev-parse", "HEAD"));
  await seeAll(server, beliefs);
  await expectLastCommit(server, pushes.wanted);
});

/** Starts a server whose API answers; its controllers may not run yet. */
async function livesOf({ dir }: GitRepository): Promise<() => Promise<SlessProcess>> {
  const port = await freePort();
  const data = join(await temporaryFolder(), "data");
  return async () => {
    const server = await startSless(dir, { data, port });
    const probe = () =>
      fetch(`${server.url}/healthz`)
        .then(({ status }) => status)
        .catch(() => 0);
    await eventually("the API answers", probe, (status) => status === 200);
    return server;
  };
}

interface Wanted {
  readonly memory: number;
  readonly code: string;
}

/** The repository, what its last commit wants, and random changes of it. */
async function openPushes(random: SeededRandom) {
  const wanted = new Map<string, Wanted>();
  let count = 0;
  const filesOf = (name: string) => {
    const now = wanted.get(name);
    return {
      [`functions/${name}/function.yaml`]: now ? functionYaml(name, { memoryMB: now.memory, replicas: 0 }) : null,
      [`functions/${name}/handler.py`]: now?.code ?? null,
    };
  };
  function change(name: string) {
    count += 1;
    wanted.set(name, { memory: 64 + 2 * count, code: handler(`push ${count}`) });
    return filesOf(name);
  }
  const repository = await gitRepository(Object.assign({}, ...STEADY.map(change)));
  return {
    repository,
    wanted,
    async pushSome(): Promise<string[]> {
      const lots = Array.from({ length: PUSHES_A_LIFE }, () => {
        const name = random.pick([...CONTESTED, ...CONTESTED, ...STEADY]);
        return { name, isRemoval: random.below(3) === 0 && CONTESTED.includes(name) };
      });
      for (const { name, isRemoval } of lots) {
        if (isRemoval) wanted.delete(name);
        else change(name);
        await repository.commit(name, filesOf(name));
      }
      return lots.map(({ name, isRemoval }) => `${isRemoval ? "-" : "+"}${name}`);
    },
  };
}

/** Sends one write after the other until none is answered; how many were. */
async function writeUntilDead(
  server: SlessProcess,
  { belief, writes }: { belief: Belief; writes: readonly Write[] },
  onAnswer: () => void,
): Promise<number> {
  for (const [answered, write] of writes.entries()) {
    const answer = await sendWrite(server, belief.name, write);
    if (answer && answer.status >= 400) expectReason(answer, belief.name);
    belief.learn(write, answer?.status);
    if (!answer) return answered;
    onAnswer();
  }
  return writes.length;
}

interface Answer {
  readonly status: number;
  /** Undefined when it died in the middle of its text. */
  readonly text: string | undefined;
}

async function sendWrite({ url }: SlessProcess, name: string, write: Write): Promise<Answer | undefined> {
  const [method, path, body] = await requestOf(name, write);
  const isZip = body instanceof Uint8Array;
  const response = await fetch(`${url}/v1/namespaces/default/functions${path}`, {
    method,
    ...(body && { body: isZip ? new Uint8Array(body) : JSON.stringify(body) }),
    headers: isZip || !body ? {} : { "content-type": "application/json" },
  }).catch(() => undefined);
  return response && { status: response.status, text: await response.text().catch(() => undefined) };
}

async function requestOf(name: string, write: Write): Promise<[string, string, object?]> {
  if (write.do === "delete") return ["DELETE", `/${name}`];
  if (write.do === "upload") {
    const content = Buffer.from(write.code);
    return ["POST", `/${name}/upload`, await packArchive([{ path: "handler.py", mode: "100644", content }])];
  }
  const body = { runtime: "python3.11", memory_mb: write.memory, replicas: 0 };
  if (write.do === "create") return ["POST", "", { name, ...body }];
  return write.do === "replace" ? ["PUT", `/${name}`, body] : ["PATCH", `/${name}`, { memory_mb: write.memory }];
}

/** A refusal says what is in the way, and of a repository's function where it is written. */
function expectReason({ status, text }: Answer, name: string): void {
  if (text === undefined) return;
  const { error, code, details } = JSON.parse(text) as { error: string; code: string; details?: unknown[] };
  expect(error, text).toContain(name);
  const codes = status === 404 ? ["not_found"] : ["already_exists", "owned_by_repository", "being_deleted"];
  expect(codes, text).toContain(code);
  if (code === "owned_by_repository")
    expect(details).toMatchObject([{ repository: expect.any(String), file: `functions/${name}/function.yaml` }]);
}

async function seeAll(server: SlessProcess, beliefs: readonly Belief[]): Promise<void> {
  const functions = (await server.objects()).filter(isFunction);
  for (const belief of beliefs) {
    const live = functions.find(({ metadata }) => metadata.name === belief.name);
    belief.see(await stateOf(server, live));
  }
}

function isFunction(object: AnyObject): object is ObjectOf<"Function"> {
  return object.kind === "Function";
}

async function stateOf(server: SlessProcess, live: ObjectOf<"Function"> | undefined): Promise<State> {
  if (!live) return "absent";
  if (live.metadata.deletionTimestamp) return "dying";
  return ownerUidOf(live) === undefined ? contentOf(server, live) : "owned";
}

async function contentOf({ url }: SlessProcess, { metadata, spec }: ObjectOf<"Function">) {
  const memory = spec.memoryMB!;
  if (spec.s3Key === undefined) return { memory, code: undefined };
  const response = await fetch(`${url}/v1/namespaces/default/functions/${metadata.name}/source`);
  expect(response.status).toBe(200);
  const files = (await response.json()) as { name: string; content: string }[];
  return { memory, code: files.find(({ name }) => name === "handler.py")?.content };
}

/** Every manifest is what runs, or the repository says why not; what has none is not the repository's. */
async function expectLastCommit(server: SlessProcess, wanted: ReadonlyMap<string, Wanted>): Promise<void> {
  const objects = await server.objects();
  const repository = objects.find(({ kind }) => kind === "Repository") as ObjectOf<"Repository">;
  const told = (repository.status?.diagnostics?.items ?? []).map(({ file }) => file);
  for (const name of [...STEADY, ...CONTESTED, ...REST]) {
    const live = objects.filter(isFunction).find(({ metadata }) => metadata.name === name);
    const manifest = wanted.get(name);
    if (live && ownerUidOf(live) !== undefined) expect(await contentOf(server, live), name).toEqual(manifest);
    else expect(told.includes(`functions/${name}/function.yaml`), `${name} is told of`).toBe(manifest !== undefined);
  }
}
