import { existsSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { answering, callFunction, pythonFunction } from "../support/embedded.ts";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-ports.ts";
import { type Files, gitRepository } from "../support/git-repository.ts";
import { httpServer } from "../support/http-server.ts";
import { processesWith } from "../support/process-tree.ts";
import { allGone, childrenOf, type SlessProcess, startSless } from "../support/sless-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** Less than a call takes that nobody lets end, and no measure of speed. */
const STOP_WITHIN_MS = 120_000;

/** `sless dev` of these functions, all of which have come to an end. */
async function running(files: Files, env: Record<string, string> = {}) {
  const repository = await gitRepository(files);
  const server = await startSless(repository.dir, { data: join(await temporaryFolder(), "data"), env });
  await server.settled(repository.head);
  return { server, repository, children: await childrenOf(server) };
}

/** Sends the signal; how the process ended, and after how long. */
async function endBy(server: SlessProcess, signal: NodeJS.Signals) {
  const begun = performance.now();
  server.kill(signal);
  return { ...(await server.exited()), ms: performance.now() - begun };
}

/** Says by a file that a call arrived, and answers once another is there. */
const SLOW = [
  "import os, time",
  "def handle(event, context):",
  "    open(event['mark'], 'w').close()",
  "    while not os.path.exists(event['until']):",
  "        time.sleep(0.02)",
  "    return 'done'",
  "",
].join("\n");

/** A call of SLOW that has reached the handler; `cut off` when it is not answered. */
async function callInFlight(server: SlessProcess): Promise<{ answer: Promise<unknown>; letEnd(): Promise<void> }> {
  const folder = await temporaryFolder();
  const [mark, until] = [join(folder, "arrived"), join(folder, "until")];
  const answer = callFunction(`${server.url}/fn/default/one`, { mark, until }).catch(() => "cut off");
  await eventually("the call arrived", () => existsSync(mark), Boolean);
  return { answer, letEnd: () => writeFile(until, "") };
}

const isStopping = (server: SlessProcess) =>
  eventually("it is stopping", server.output, (text) => text.includes("Stopping"));

describe("SIGTERM", () => {
  it("ends the server with code 0 and every process that it started", async () => {
    const { server, children } = await running(pythonFunction("one", answering("1"), { replicas: 2 }));
    expect(children.length).toBeGreaterThanOrEqual(3);
    const { code, ms } = await endBy(server, "SIGTERM");
    expect({ code, output: server.output() }).toMatchObject({ code: 0 });
    expect(ms).toBeLessThan(STOP_WITHIN_MS);
    await allGone(children);
  });

  it("lets a call in flight end well", async () => {
    const { server, children } = await running(pythonFunction("one", SLOW, { timeoutSec: 300 }));
    const { answer, letEnd } = await callInFlight(server);
    const ended = endBy(server, "SIGTERM");
    await isStopping(server);
    await letEnd();
    expect(await answer).toEqual({ status: 200, body: "done" });
    const { code, ms } = await ended;
    expect(code).toBe(0);
    expect(ms).toBeLessThan(STOP_WITHIN_MS);
    await allGone(children);
  });

  it("does not wait for a call that takes too long, nor for a build", async () => {
    // A package index that never answers: the installation is in flight until it is ended.
    const index = await httpServer(() => {});
    const env = { PIP_INDEX_URL: `${index.origin}/simple`, PIP_NO_CACHE_DIR: "1" };
    const { server, repository } = await running(pythonFunction("one", SLOW, { timeoutSec: 300 }), env);
    await repository.commit("a build that hangs", {
      ...pythonFunction("two", answering("2")),
      "functions/two/requirements.txt": "no-such-package\n",
    });
    await eventually(
      "pip waits",
      () => processesWith(join(server.data, "builds")),
      (pids) => pids.length > 0,
    );
    const { answer } = await callInFlight(server);
    const children = await childrenOf(server);
    const { code, ms } = await endBy(server, "SIGTERM");
    expect(code).toBe(0);
    expect(ms).toBeLessThan(STOP_WITHIN_MS);
    await answer;
    await allGone(children);
    expect(processesWith(server.data)).toEqual([]);
    // What a stop had no time to remove goes before the next build; outputs of commands are named as before.
    const halfMade = async () =>
      (await readdir(join(server.data, "builds/tmp"))).filter((name) => !name.endsWith(".log"));
    const left = await halfMade();
    await startSless(repository.dir, { data: server.data, env });
    await eventually(
      "nothing half made is left",
      async () => (await halfMade().catch(() => left)).filter((name) => left.includes(name)),
      ({ length }) => length === 0,
    );
  });

  it("sent twice ends it at once, and every process that it started", async () => {
    const { server } = await running(pythonFunction("one", SLOW, { timeoutSec: 300 }));
    const { answer } = await callInFlight(server);
    const children = await childrenOf(server);
    server.kill("SIGTERM");
    await isStopping(server);
    const { code, ms } = await endBy(server, "SIGTERM");
    expect(code).toBe(130);
    expect(ms).toBeLessThan(STOP_WITHIN_MS);
    expect(await answer).toBe("cut off");
    await allGone(children);
  });
});

it("SIGKILL of the server leaves no process that it started", async () => {
  const { server, children } = await running(pythonFunction("one", answering("1"), { replicas: 2 }));
  await endBy(server, "SIGKILL");
  await allGone(children);
});

describe("a second start", () => {
  it("on a data folder in use ends with code 2 and names the process that has it", async () => {
    const { server, repository } = await running(pythonFunction("one", answering("1")));
    const second = await startSless(repository.dir, { data: server.data });
    expect(await second.exited()).toMatchObject({ code: 2 });
    expect(second.output()).toContain(`${server.data} is in use by process ${server.pid}`);
    expect(await callFunction(`${server.url}/fn/default/one`)).toEqual({ status: 200, body: 1 });
    expect((await readFile(join(server.data, "pid"), "utf8")).trim()).toBe(String(server.pid));
  });

  it("on a port that is taken ends with code 2 and says so; the one that has it goes on", async () => {
    const { server, repository } = await running(pythonFunction("one", answering("1")));
    const port = Number(new URL(server.url).port);
    const second = await startSless(repository.dir, { data: join(await temporaryFolder(), "data"), port });
    expect(await second.exited()).toMatchObject({ code: 2 });
    expect(second.output()).toContain(`Port ${port} is taken`);
    expect(processesWith(second.data)).toEqual([]);
    expect(await callFunction(`${server.url}/fn/default/one`)).toEqual({ status: 200, body: 1 });
  });

  it("on a port that a stranger holds says the same, and starts once it is free", async () => {
    const port = await freePort();
    const stranger = createServer();
    await new Promise<void>((resolve) => stranger.listen(port, "127.0.0.1", resolve));
    const repository = await gitRepository(pythonFunction("one", answering("1")));
    const data = join(await temporaryFolder(), "data");
    const first = await startSless(repository.dir, { data, port });
    expect(await first.exited()).toMatchObject({ code: 2 });
    await new Promise((resolve) => stranger.close(resolve));
    const second = await startSless(repository.dir, { data, port });
    await second.settled(repository.head);
    expect(await callFunction(`${second.url}/fn/default/one`)).toEqual({ status: 200, body: 1 });
  });
});
