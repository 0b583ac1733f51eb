import { once } from "node:events";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { within } from "../support/within.ts";
import { act, send } from "./exchange.ts";
import { inlineImage, inlineReplica, refusedStart, writeFiles } from "./inline-image.ts";
import { machineOf } from "./machines.ts";
import { hasWritten, killReplica, spawnRuntime, startReplica } from "./replica.ts";

const node = await machineOf("node");

describe("forms of a Node handler", () => {
  it.each<[string, Record<string, string>, unknown]>([
    ["CommonJS", { "handler.js": "exports.handle = (event) => event.n;" }, 1],
    ["CommonJS as module.exports", { "handler.js": "module.exports = { handle: async (event) => event.n };" }, 1],
    [
      "CommonJS by its extension",
      { "handler.cjs": "exports.handle = () => require('./n.cjs');", "n.cjs": "module.exports = 2;" },
      2,
    ],
    ["an ES module by its extension", { "handler.mjs": "export const handle = (event) => event.n;" }, 1],
    [
      "an ES module by package.json",
      {
        "handler.js": "export async function handle(event, context) { return context.function; }",
        "package.json": '{"type":"module"}',
      },
      "hello",
    ],
    [
      "an ES module by its syntax alone",
      { "handler.js": "import { n } from './n.js';\nexport const handle = () => n;", "n.js": "export const n = 3;" },
      3,
    ],
    ["an ES module's default object", { "handler.mjs": "export default { handle: () => 4 };" }, 4],
    ["top-level await", { "handler.mjs": "const n = await Promise.resolve(5);\nexport const handle = () => n;" }, 5],
    [
      "a generator function",
      { "handler.js": "exports.handle = function* () { yield { row: 1 }; yield { row: 2 }; };" },
      '{"row":1}\n{"row":2}\n',
    ],
    ["a web stream", { "handler.js": "exports.handle = () => new Blob(['streamed']).stream();" }, "streamed"],
    [
      "a Node stream",
      { "handler.js": "const { Readable } = require('stream');\nexports.handle = () => Readable.from(['a', 'b']);" },
      "ab",
    ],
    [
      "a stream in a statusCode map",
      { "handler.js": "exports.handle = () => ({ statusCode: 201, body: (async function* () { yield 'x'; })() });" },
      "x",
    ],
    ["a folder with an index", { "handler/index.js": "exports.handle = () => 6;" }, 6],
    ["undefined", { "handler.js": "exports.handle = () => {};" }, ""],
  ])("%s is called", async (_name, files, expected) => {
    const { origin } = await inlineReplica(node, files);
    const reply = await act(origin, "", { n: 1 });
    expect(typeof expected === "string" ? reply.body.toString() : reply.json).toEqual(expected);
  });

  it.each([32, 100, 128, 1024])("the heap leaves room for the rest of %i MiB", async (memory) => {
    const code = "exports.handle = () => require('v8').getHeapStatistics().heap_size_limit / 2 ** 20;";
    const { origin } = await inlineReplica(node, { "handler.js": code }, { SLESS_MEMORY_MB: String(memory) });
    const limit = (await act(origin, "")).json as number;
    expect(limit).toBeGreaterThanOrEqual(memory / 2);
    expect(limit).toBeLessThan(memory);
  });
});

describe("the end of a Node call", () => {
  it.each(["its deadline comes", "its client goes away"])("the context's signal aborts when %s", async (why) => {
    const code = `exports.handle = (event, { signal }) => new Promise((resolve) => {
      console.log("waiting");
      signal.addEventListener("abort", () => { console.log("aborted:", signal.reason.message); resolve(); });
    });`;
    const replica = await inlineReplica(node, { "handler.js": code });
    const client = new AbortController();
    const headers = { "x-sless-timeout-ms": why.includes("deadline") ? "1000" : "60000" };
    const call = act(replica.origin, "", {}, { headers, signal: client.signal }).then(
      ({ status }) => status,
      () => "gone",
    );
    await hasWritten(replica.stdout, "waiting");
    if (why.includes("client")) client.abort();
    expect(await call).toBe(why.includes("client") ? "gone" : 504);
    await hasWritten(replica.stdout, "aborted:");
  });

  it.each([
    ["after a pause", "await new Promise((r) => setTimeout(r, 20)); for (;;);"],
    ["in a timer of its own", "await new Promise(() => setTimeout(() => { for (;;); }, 20));"],
    ["in a regular expression", "/^(a+)+$/.test('a'.repeat(64) + 'b');"],
  ])("a handler that blocks %s gets 504, and the replica ends with 75", async (_name, body) => {
    const replica = await inlineReplica(node, { "handler.js": `exports.handle = async () => { ${body} };` });
    const reply = await act(replica.origin, "", {}, { headers: { "x-sless-timeout-ms": "1000" } });
    expect([reply.status, reply.json]).toEqual([504, expect.objectContaining({ reason: "function_timeout" })]);
    expect(await replica.exited()).toBe(75);
    expect(replica.stderr()).toMatch(/the replica is replaced; it stands at\n {4}at .*handler\.js:1/);
  });

  it("a native call that blocks is ended by force, with a reason in the log", async () => {
    const code = "exports.handle = () => require('child_process').execSync('sleep 60');";
    const replica = await inlineReplica(node, { "handler.js": code });
    const call = act(replica.origin, "", {}, { headers: { "x-sless-timeout-ms": "1000" } }).catch(() => "broken");
    expect(await call).toBe("broken");
    expect(await replica.exited()).toBe("SIGKILL");
    expect(replica.stderr()).toContain("the replica is replaced");
  });

  it("work that is blocked less than its deadline is no fault", async () => {
    const code = "exports.handle = () => { const end = Date.now() + 700; while (Date.now() < end); return 'worked'; };";
    const { origin } = await inlineReplica(node, { "handler.js": code }, { SLESS_TIMEOUT_SEC: "10" });
    for (let index = 0; index < 3; index += 1) expect((await act(origin, "")).body.toString()).toBe("worked");
  });

  it("an error outside of every call answers the calls in flight and ends the replica", async () => {
    const code =
      "exports.handle = () => { setTimeout(() => { throw new Error('stray'); }, 50); return new Promise(() => {}); };";
    const replica = await inlineReplica(node, { "handler.js": code });
    const reply = await act(replica.origin, "");
    expect([reply.status, reply.json]).toEqual([500, expect.objectContaining({ reason: "handler_error" })]);
    expect(await replica.exited()).toBe(1);
    expect(replica.stderr()).toContain("Error: stray");
  });

  it("a thrown value that is no error is a failure too", async () => {
    const replica = await inlineReplica(node, { "handler.js": "exports.handle = () => { throw { code: 7 }; };" });
    expect((await act(replica.origin, "")).status).toBe(500);
    await hasWritten(replica.stderr, "{ code: 7 }");
  });
});

describe("loading a Node handler", () => {
  it.each([
    [
      "a missing file",
      { "other.js": "" },
      /^sless: none of handler\.js, handler\.mjs, handler\.cjs is in the source; add it/,
    ],
    [
      "a missing function",
      { "handler.js": "exports.handel = () => 1;" },
      /^sless: handler\.js exports no function handle; functions there: handel; add it/,
    ],
    [
      "a function without a name",
      { "handler.js": "module.exports = () => 1;" },
      /^sless: handler\.js exports a function without a name; export it as handle/,
    ],
    [
      "a handler that is no function",
      { "handler.js": "exports.handle = 5;" },
      /^sless: handle of handler\.js is of type number and no function/,
    ],
    [
      "a missing package",
      { "handler.js": "require('not-there/deep');" },
      /^sless: handler\.js failed at import: the package not-there is not installed; add it to dependencies/,
    ],
    [
      "a missing package of an ES module",
      { "handler.mjs": "import '@a/not-there';" },
      /^sless: handler\.mjs failed at import: the package @a\/not-there is not installed/,
    ],
    [
      "a missing file of the source",
      { "handler.js": "require('./gone');" },
      /^sless: handler\.js failed at import: Error: Cannot find module '\.\/gone'; add the file/,
    ],
    [
      "CommonJS that is called an ES module",
      { "handler.js": "exports.handle = () => 1;", "package.json": '{"type":"module"}' },
      /^sless: handler\.js failed at import: ReferenceError: exports is not defined in ES module scope; it is CommonJS: name it \.cjs/,
    ],
    [
      "an error at import",
      { "handler.js": "throw new TypeError('no');" },
      /^sless: handler\.js failed at import: TypeError: no; the stack is above$/,
    ],
    ["a syntax error", { "handler.js": "exports.handle = (;" }, /^sless: handler\.js failed at import: SyntaxError: /],
  ])("%s is told in one line with what to do", async (_name, files, reason) => {
    const start = await refusedStart(node, files);
    expect(start.code).toBe(65);
    expect(start.reason).toMatch(reason);
  });

  it("packages beside the source are found by ES modules and by CommonJS", async () => {
    const deps = await temporaryFolder();
    await writeFiles(join(deps, "node_modules"), {
      "greeter/package.json": '{"name":"greeter","exports":{"import":"./i.mjs","require":"./r.cjs"}}',
      "greeter/i.mjs": "export default 'esm';",
      "greeter/r.cjs": "module.exports = 'cjs';",
    });
    const code =
      "import greeter from 'greeter';\nimport { createRequire } from 'node:module';\nexport const handle = () => [greeter, createRequire(import.meta.url)('greeter')];";
    const replica = await startReplica(node, await inlineImage(node, { "handler.mjs": code }, { deps }));
    expect((await send(replica.origin)).json).toEqual(["esm", "cjs"]);
    await killReplica(replica);
  });
});

describe("the end of a Node job", () => {
  const current = { ...node, interpreter: { ...node.interpreter, path: process.execPath } };
  const told = 'process.on("exit", (code) => console.log("exit", code));';
  // Node may hang where it is told to exit.
  const exits = 'process.reallyExit = () => console.log("it was told to exit");';

  async function run(machine: typeof node, code: string) {
    const image = await inlineImage(machine, { "handler.js": code });
    const job = spawnRuntime(machine, image, { SLESS_JOB: "1" });
    onTestFinished(() => killReplica(job));
    return { code: await job.exited(), stdout: job.stdout(), stderr: job.stderr() };
  }

  it.each<[string, string, number]>([
    ["succeeds", "", 0],
    ["fails", "throw new Error('no');", 1],
    ["answers with an error", "return { statusCode: 500 };", 1],
  ])("one that %s ends by itself, by the machine's Node as by a new one", async (_name, code, expected) => {
    for (const machine of [node, current])
      expect(await run(machine, `exports.handle = () => { ${told} ${exits} ${code} };`)).toMatchObject({
        code: expected,
        stdout: `exit ${expected}\n`,
      });
  });

  it.each<[string, string]>([
    ["timers", "setInterval(() => {}, 1000); setTimeout(() => {}, 60_000);"],
    ["a server", "require('net').createServer().listen(0, '127.0.0.1');"],
    ["a thread", "new (require('worker_threads').Worker)('setInterval(() => {}, 1000)', { eval: true });"],
    ["a child process", "require('child_process').spawn('sleep', ['60'], { stdio: 'ignore' });"],
    ["what fails in a moment", "setTimeout(() => { throw new Error('late'); }, 5); setInterval(() => {}, 1000);"],
    [
      "what is rejected in a moment",
      "setTimeout(() => Promise.reject(new Error('late')), 5); setInterval(() => {}, 9);",
    ],
    ["a listener that fails", "process.on('exit', () => { throw new Error('late'); });"],
  ])("a job that is done ends well though it left %s", async (_name, code) => {
    for (const machine of [node, current])
      expect(await run(machine, `exports.handle = () => { ${code} };`)).toMatchObject({ code: 0 });
  });

  it("all that was printed arrives, also by a pipe that was full", async () => {
    const bytes = 1_000_000;
    const print = `console.log("x".repeat(${bytes}));`;
    for (const machine of [node, current]) {
      const job = await run(machine, `exports.handle = () => { ${print} };`);
      expect([job.code, job.stdout.length]).toEqual([0, bytes + 1]);
    }
    const unread = await inlineImage(current, { "handler.js": `exports.handle = () => { ${print} };` });
    const job = spawnRuntime(current, unread, { SLESS_JOB: "1", SLESS_TIMEOUT_SEC: "1" });
    onTestFinished(() => killReplica(job));
    job.process.stdout!.pause();
    const ended = once(job.process, "exit");
    expect(await within("its end though nobody reads", ended, job.stderr)).toEqual([0, null]);
    const draining = await inlineReplica(current, {
      "handler.js": `process.on("SIGTERM", () => { ${print} }); exports.handle = () => null;`,
    });
    draining.process.kill("SIGTERM");
    expect([await draining.exited(), draining.stdout().length]).toEqual([0, bytes + 1]);
  });

  it("a listener of the end is called once, and may say another code", async () => {
    const code = 'process.on("exit", (code) => { console.log("exit", code); process.exitCode = 7; });';
    for (const machine of [node, current])
      expect(await run(machine, `exports.handle = () => { ${code} };`)).toMatchObject({ code: 7, stdout: "exit 0\n" });
  });

  it("a replica that drains, that crashes or that a call blocks is told to exit by no new Node", async () => {
    const code = `${exits} exports.handle = ({ how }) => {
      if (how === "crash") setTimeout(() => { throw new Error("no"); });
      while (how === "block");
    };`;
    for (const [how, expected] of [
      ["drain", 0],
      ["crash", 1],
      ["block", 75],
    ] as const) {
      const replica = await inlineReplica(current, { "handler.js": code }, { SLESS_TIMEOUT_SEC: "1" });
      await act(replica.origin, "", { how });
      if (how === "drain") replica.process.kill("SIGTERM");
      expect(await replica.exited()).toBe(expected);
      expect(replica.stdout()).toBe("");
    }
  });
});
