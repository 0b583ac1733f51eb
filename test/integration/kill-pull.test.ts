import { spawn } from "node:child_process";
import { watch } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFailed } from "vitest";
import { parseManifest } from "../../src/manifest/index.ts";
import { packArchive } from "../../src/source/index.ts";
import { filesBelow } from "../pull/pull-world.ts";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-ports.ts";
import { functionYaml } from "../support/function-files.ts";
import { type GitRepository, gitRepository } from "../support/git-repository.ts";
import { type SeededRandom, seededRandom } from "../support/seeded-random.ts";
import { type SlessProcess, startSless } from "../support/sless-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { watchChild } from "../support/watched-child.ts";

const SLESS = join(import.meta.dirname, "../../src/app/sless.ts");
const ROUNDS = 3;
const LIVES = 3;
/** Each life starts a server and some pulls, which take a minute beside ten other runs. */
const LIVES_MAX_MS = 20 * 60_000;
const WRITES_A_LIFE = 3;
/** Changes in the folder after which a pull may be killed; a whole one makes more. */
const CHANGES_MAX = 60;
const STEADY = ["steady-1", "steady-2"];
const REST = ["rest-1", "rest-2", "rest-3"];
const MINE = { "notes.txt": "mine\n", "drafts/idea.md": "not committed\n" };
const PARTS = Array.from({ length: 6 }, (_, index) => `part-${index}.txt`);

/** The files of a version of a function: each tells which it is, and whether it is whole. */
function sourceOf(name: string, version: number): Record<string, string> {
  const part = (path: string) => `${name} ${path} ${version}\n${"x".repeat(20_000)}\nend of ${version}\n`;
  return {
    "handler.py": `def handle(event, context):\n    return ${version}\n`,
    ...Object.fromEntries(PARTS.map((path) => [path, part(path)])),
  };
}

const WHOLE = /^(?:\S+ \S+ (\d+)\nx+\nend of \1\n|def handle\(event, context\):\n {4}return \d+\n)$/;

/** What a kill at any instant must not leave: half a file, or a change of what is nobody's but the user's. */
async function expectWhole(clone: string): Promise<void> {
  const files = await filesBelow(clone);
  for (const [path, content] of Object.entries(files)) {
    if (path.includes(".sless-pull-") || path in MINE || path === "README.md") continue;
    const text = Buffer.from(content as Uint8Array).toString();
    if (!path.endsWith(".yaml")) expect(text, path).toMatch(WHOLE);
    else
      expect(parseManifest({ file: path, text, namespace: "default", runtimes: ["python3.11"] }).diagnostics).toEqual(
        [],
      );
  }
  for (const [path, text] of Object.entries(MINE)) expect(files[path]?.toString()).toBe(text);
}

/** The clone of somebody who has files of his own there. */
async function openClone({ dir }: GitRepository): Promise<{ clone: string; git: GitRepository["git"] }> {
  const mirror = await gitRepository({ "README.md": "" });
  await mirror.git("fetch", "--quiet", dir, "main");
  await mirror.git("reset", "--quiet", "--hard", "FETCH_HEAD");
  await mirror.git("remote", "add", "origin", dir);
  await mkdir(join(mirror.work, "drafts"));
  for (const [path, text] of Object.entries(MINE)) await writeFile(join(mirror.work, path), text);
  return { clone: mirror.work, git: mirror.git };
}

interface PullEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly output: string;
}

/** A pull in a process of its own. @param kill what dies after so many changes in the folder; the pull, unless it is named */
async function pull(
  clone: string,
  url: string,
  args: readonly string[],
  kill?: { at: number; victim?: () => void },
): Promise<PullEnd> {
  const line = [SLESS, "pull", "--into", clone, "--endpoint", url, ...args];
  const env = { PATH: process.env.PATH ?? "", HOME: await temporaryFolder(), NO_COLOR: "1" };
  const child = spawn(process.execPath, line, { env, stdio: ["ignore", "pipe", "pipe"] });
  const { closed, output } = watchChild(child);
  let changes = 0;
  const watcher = watch(clone, { recursive: true }, () => {
    changes += 1;
    if (changes === kill?.at) (kill.victim ?? (() => child.kill("SIGKILL")))();
  });
  const end = await closed();
  watcher.close();
  return { ...end, output: output() };
}

async function startAnswering(repository: GitRepository, place: { data: string; port: number }): Promise<SlessProcess> {
  const server = await startSless(repository.dir, place);
  const probe = () =>
    fetch(`${server.url}/readyz`)
      .then(({ status }) => status)
      .catch(() => 0);
  await eventually("it is ready", probe, (status) => status === 200);
  return server;
}

const openPlace = async () => ({ data: join(await temporaryFolder(), "data"), port: await freePort() });

async function send(url: string, method: string, path: string, body: object): Promise<number | undefined> {
  const isZip = body instanceof Uint8Array;
  const response = await fetch(`${url}/v1/namespaces/default/functions${path}`, {
    method,
    body: isZip ? new Uint8Array(body) : JSON.stringify(body),
    headers: isZip ? {} : { "content-type": "application/json" },
  }).catch(() => undefined);
  await response?.text().catch(() => undefined);
  return response?.status;
}

async function upload(url: string, name: string, version: number): Promise<number | undefined> {
  const files = Object.entries(sourceOf(name, version)).map(([path, text]) => ({
    path,
    mode: "100644" as const,
    content: Buffer.from(text),
  }));
  return send(url, "POST", `/${name}/upload`, await packArchive(files));
}

/** What the clone says of a function, and what the server has of it: the memory, and each file of its source. */
async function compared(server: SlessProcess, clone: string, name: string): Promise<[unknown, unknown]> {
  const folder = join(clone, "functions", name);
  const names = (await readdir(folder)).sort();
  const files = await Promise.all(
    names.map(async (path) => [path, await readFile(join(folder, path), "utf8")] as const),
  );
  const manifest = files.find(([path]) => path === "function.yaml")?.[1] ?? "";
  const answer = await fetch(`${server.url}/v1/namespaces/default/functions/${name}/source`);
  const source = (await answer.json()) as { name: string; content: string }[];
  const { memory_mb: memory } = await server.client.get("functions", name, { namespace: "default" });
  return [
    [Number(/memoryMB: (\d+)/.exec(manifest)?.[1] ?? 128), files.filter(([path]) => path !== "function.yaml")],
    [memory, source.map((file) => [file.name, file.content]).sort(([a], [b]) => (a! < b! ? -1 : 1))],
  ];
}

function pushedFiles(name: string, version: number, memoryMB: number): Record<string, string> {
  const files = Object.entries(sourceOf(name, version)).map(([path, text]) => [`functions/${name}/${path}`, text]);
  return {
    [`functions/${name}/function.yaml`]: functionYaml(name, { memoryMB, replicas: 0 }),
    ...Object.fromEntries(files),
  };
}

it("a pull that is killed anywhere leaves whole files, and the next one ends as if it had not been", async () => {
  const random = seededRandom("kill of pulls");
  const repository = await gitRepository(Object.assign({}, ...STEADY.map((name) => pushedFiles(name, 1, 64))));
  const server = await startAnswering(repository, await openPlace());
  await server.settled(repository.head);
  for (const name of REST) {
    expect(await send(server.url, "POST", "", { name, runtime: "python3.11", replicas: 0 })).toBe(201);
    expect(await upload(server.url, name, 1)).toBe(200);
  }
  const unkilled = await openClone(repository);
  expect(await pull(unkilled.clone, server.url, [])).toMatchObject({ code: 0 });
  const expected = await filesBelow(unkilled.clone);
  const kills: number[] = [];
  // Whoever sees the change kills as soon as it can, which may be when the pull has ended.
  for (let round = 0; round < ROUNDS || kills.length === 0; round += 1) {
    const { clone } = await openClone(repository);
    const killAt = 1 + random.below(CHANGES_MAX);
    const { signal } = await pull(clone, server.url, [], { at: killAt });
    if (signal) kills.push(killAt);
    await expectWhole(clone);
    const again = await pull(clone, server.url, []);
    expect(again, `killed at change ${killAt}\n${again.output}`).toMatchObject({ code: 0, signal: null });
    expect(await filesBelow(clone)).toEqual(expected);
  }
});

/** Some writes of one function through REST, until the server is dead; the last that was accepted must be there. */
async function writeSome(url: string, name: string, from: number): Promise<Written> {
  const accepted: Written = { memory: [], version: [] };
  for (let count = from; count < from + WRITES_A_LIFE; count += 1) {
    const memory = 64 + (count % 400);
    const patched = await send(url, "PATCH", `/${name}`, { memory_mb: memory });
    if (patched === undefined) return { ...accepted, memory: [...accepted.memory.slice(-1), memory] };
    expect(patched).toBe(200);
    accepted.memory = [memory];
    const uploaded = await upload(url, name, count);
    if (uploaded === undefined) return { ...accepted, version: [...accepted.version.slice(-1), count] };
    expect(uploaded).toBe(200);
    accepted.version = [count];
  }
  return accepted;
}

/** Of the last writes, those that may be there: the last that was accepted, and one that was not answered. */
interface Written {
  memory: number[];
  version: number[];
}

async function expectWritten(server: SlessProcess, name: string, written: Written): Promise<void> {
  const { memory_mb: memory } = await server.client.get("functions", name, { namespace: "default" });
  if (written.memory.length > 0) expect(written.memory, `memory of ${name}`).toContain(memory);
  const answer = await fetch(`${server.url}/v1/namespaces/default/functions/${name}/source`);
  const files = (await answer.json()) as { name: string; content: string }[];
  const handler = files.find((file) => file.name === "handler.py")?.content ?? "";
  const version = Number(/return (\d+)/.exec(handler)?.[1]);
  if (written.version.length > 0) expect(written.version, `version of ${name}`).toContain(version);
}

/** Pulls in one life of the server: the first is killed at some change that it makes, in the second the server is. */
async function pullUntilDead(clone: string, server: SlessProcess, random: SeededRandom): Promise<string[]> {
  const victim = () => server.kill("SIGKILL");
  const ends: string[] = [];
  for (const kill of [{}, { victim }]) {
    const at = 1 + random.below(CHANGES_MAX);
    const { code, signal, output } = await pull(clone, server.url, ["--force"], { at, ...kill });
    await expectWhole(clone);
    expect([0, 1, 2, null], output).toContain(code);
    ends.push(`${signal ?? code} at ${at}`);
  }
  victim();
  return ends;
}

it(
  "pulls and the server killed amid pushes and REST writes tear no file and lose no write",
  async () => {
    const random = seededRandom("kill of pulls and server");
    const told: string[] = [];
    onTestFailed(() => console.info(`SLESS_SEED=${random.seed}\n${told.join("\n")}`));
    let version = 1;
    const repository = await gitRepository(Object.assign({}, ...STEADY.map((name) => pushedFiles(name, version, 64))));
    const place = await openPlace();
    const { clone } = await openClone(repository);
    const setUp = await startAnswering(repository, place);
    await setUp.settled(repository.head);
    for (const name of REST) {
      expect(await send(setUp.url, "POST", "", { name, runtime: "python3.11", replicas: 0 })).toBe(201);
      expect(await upload(setUp.url, name, version)).toBe(200);
    }
    setUp.kill("SIGKILL");
    await setUp.exited();

    let written: Written[] = [];
    const nextLife = async () => {
      const server = await startAnswering(repository, place);
      for (const [index, one] of written.entries()) await expectWritten(server, REST[index]!, one);
      return server;
    };
    // Until a pull was killed that was under way.
    for (let life = 0; life < LIVES || !told.join().includes("SIGKILL"); life += 1) {
      const server = await nextLife();
      const pulls = pullUntilDead(clone, server, random);
      version += 1_000;
      const from = version;
      const writes = Promise.all(REST.map((name) => writeSome(server.url, name, from)));
      await repository.commit(`push ${version}`, pushedFiles(random.pick(STEADY), version, 64 + life));
      const [done, ends] = await Promise.all([writes, pulls, server.exited()]);
      written = done;
      told.push(`${life}: pulls ended with ${ends.join(", ")}; ${JSON.stringify(written)}`);
    }

    const server = await nextLife();
    await server.settled(await repository.git("rev-parse", "HEAD"));
    expect(await pull(clone, server.url, ["--force"])).toMatchObject({ code: 0 });
    await expectWhole(clone);
    for (const name of [...STEADY, ...REST]) {
      const [inClone, onServer] = await compared(server, clone, name);
      expect(inClone, name).toEqual(onServer);
    }
    expect((await pull(clone, server.url, ["-o", "name"])).output).toBe("");
    expect((await readdir(clone)).filter((name) => name.startsWith(".sless-pull-"))).toEqual([]);
  },
  LIVES_MAX_MS,
);
