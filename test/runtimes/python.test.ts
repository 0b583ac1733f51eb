import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { act, send } from "./exchange.ts";
import { inlineImage, inlineReplica, refusedStart, writeFiles } from "./inline-image.ts";
import { machineOf } from "./machines.ts";
import { hasWritten, killReplica, startReplica } from "./replica.ts";

const python = await machineOf("python");

describe("forms of a Python handler", () => {
  it.each<[string, string, unknown]>([
    ["one argument", "def handle(event): return event['n']", 1],
    ["no argument", "def handle(): return 2", 2],
    ["any arguments", "def handle(*args): return len(args)", 2],
    ["async", "async def handle(event, context): return context.function", "hello"],
    [
      "a decorated function",
      "import functools\ndef d(f):\n  @functools.wraps(f)\n  def w(*a): return f(*a)\n  return w\n@d\ndef handle(event): return event['n']",
      1,
    ],
    [
      "a partial",
      "import functools\nhandle = functools.partial(lambda greeting, event: greeting + str(event['n']), 'hi ')",
      "hi 1",
    ],
    [
      "an object that can be called",
      "class H:\n  def __call__(self, event, context): return context.namespace\nhandle = H()",
      "default",
    ],
    ["a method", "class H:\n  def run(self, event): return event['n']\nhandle = H().run", 1],
    [
      "a sync function that gives an awaitable",
      "async def inner(e): return e['n']\ndef handle(event): return inner(event)",
      1,
    ],
    ["an async generator", "async def handle(event):\n  yield 'a'\n  yield 'b'", "ab"],
    ["a generator function", "def handle(event):\n  yield {'row': 1}\n  yield {'row': 2}", '{"row":1}\n{"row":2}\n'],
    [
      "a generator in a statusCode map",
      "def handle(event): return {'statusCode': 201, 'body': (c for c in 'xy')}",
      "xy",
    ],
  ])("%s is called", async (_name, code, expected) => {
    const { origin } = await inlineReplica(python, { "handler.py": code });
    const reply = await act(origin, "", { n: 1 });
    expect(typeof expected === "string" ? reply.body.toString() : reply.json).toEqual(expected);
  });

  it("dates, decimals and UUIDs are JSON strings", async () => {
    const code = `
import datetime, decimal, uuid
def handle(event):
    return [datetime.date(2026, 1, 2), decimal.Decimal("1.10"), uuid.UUID(int=1), "\\ud800"]`;
    const { origin } = await inlineReplica(python, { "handler.py": code });
    expect((await act(origin, "")).json).toEqual([
      "2026-01-02",
      "1.10",
      "00000000-0000-0000-0000-000000000001",
      "\ud800",
    ]);
  });

  it("asynchronous handlers share one event loop, also while another one waits", async () => {
    const code = `
import asyncio
event_of = {}
async def handle(event, context):
    gate = event_of.setdefault("gate", asyncio.Event())
    if event["open"]: gate.set()
    await gate.wait()
    return id(asyncio.get_running_loop())`;
    const { origin } = await inlineReplica(python, { "handler.py": code });
    const waiting = [act(origin, "", { open: false }), act(origin, "", { open: false })];
    const ids = await Promise.all([...waiting, act(origin, "", { open: true })]);
    expect(new Set(ids.map(({ body }) => body.toString())).size).toBe(1);
  });
});

describe("the end of a Python call", () => {
  const CANCELLED = `
import asyncio
async def handle(event, context):
    try:
        print("waiting", flush=True)
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        print("cancelled")
        raise`;

  it("an asynchronous handler is cancelled at its deadline, and the replica goes on", async () => {
    const replica = await inlineReplica(python, { "handler.py": CANCELLED });
    const headers = { "x-sless-timeout-ms": "1000" };
    expect((await act(replica.origin, "", {}, { headers })).status).toBe(504);
    await hasWritten(replica.stdout, "cancelled");
    expect((await act(replica.origin, "", {}, { headers })).status).toBe(504);
  });

  it("an asynchronous handler is cancelled when its client goes away", async () => {
    const replica = await inlineReplica(python, { "handler.py": CANCELLED });
    const client = new AbortController();
    const call = act(replica.origin, "", {}, { signal: client.signal }).catch(() => "gone");
    await hasWritten(replica.stdout, "waiting");
    client.abort();
    expect(await call).toBe("gone");
    await hasWritten(replica.stdout, "cancelled");
  });

  it("an asynchronous handler that blocks the loop makes the replica be replaced", async () => {
    const code = "async def handle(event):\n    while True: pass\n";
    const replica = await inlineReplica(python, { "handler.py": code }, { SLESS_TIMEOUT_SEC: "1" });
    expect((await act(replica.origin, "")).status).toBe(504);
    expect(await replica.exited()).toBe(75);
    expect(replica.stderr()).toContain('handler.py", line 2, in handle');
  });

  it("a handler that holds the interpreter's lock is ended with the replica", async () => {
    const code = "import re\ndef handle(event): return re.match('(a+)+$', 'a' * 64 + 'b')\n";
    const replica = await inlineReplica(python, { "handler.py": code });
    const reply = act(replica.origin, "", {}, { headers: { "x-sless-timeout-ms": "1000" } }).catch(() => "broken");
    expect(await reply).toBe("broken");
    expect(await replica.exited()).toBe(1);
    expect(replica.stderr()).toMatch(/Timeout.*\n(.*\n)*.*handler\.py", line 2 in handle/);
  });

  it("a handler that ends the process ends its call alone", async () => {
    const { origin } = await inlineReplica(python, { "handler.py": "import sys\ndef handle(event): sys.exit(3)\n" });
    const replies = [await act(origin, ""), await act(origin, "")];
    expect(replies.map(({ status }) => status)).toEqual([500, 500]);
  });
});

describe("loading a Python handler", () => {
  it.each([
    [
      "a missing file",
      { "other.py": "" },
      /^sless: handler\.py is not in the source; add it, or correct spec\.entrypoint \(handler\.handle\)$/,
    ],
    [
      "a missing function",
      { "handler.py": "def handel(event): pass\nimport os" },
      /^sless: handler\.py has no function handle; functions there: handel; add it/,
    ],
    [
      "a handler that is no function",
      { "handler.py": "handle = 5" },
      /^sless: handle of handler\.py is a int and no function/,
    ],
    [
      "a missing package",
      { "handler.py": "import requests_not_there" },
      /^sless: handler\.py failed at import: No module named 'requests_not_there'; add it to requirements\.txt/,
    ],
    [
      "an error at import",
      { "handler.py": "1/0" },
      /^sless: handler\.py failed at import: ZeroDivisionError: division by zero; the stack is above$/,
    ],
    [
      "a syntax error",
      { "handler.py": "x = 1\ndef handle(:\n" },
      /^sless: handler\.py failed at import: SyntaxError: .* \(handler\.py, line 2\); correct it$/,
    ],
    [
      "an exit at import",
      { "handler.py": "raise SystemExit(3)" },
      /^sless: handler\.py failed at import: it ends the process \(exit 3\)/,
    ],
  ])("%s is told in one line with what to do", async (_name, files, reason) => {
    const start = await refusedStart(python, files);
    expect(start.code).toBe(65);
    expect(start.reason).toMatch(reason);
    expect(start.log).not.toContain("sless_runtime");
  });

  it("the stack of an error at import is in the log", async () => {
    const start = await refusedStart(python, {
      "handler.py": "import deeper",
      "deeper.py": "\n\nraise ValueError('here')",
    });
    expect(start.log).toMatch(/handler\.py", line 1(.*\n)*.*deeper\.py", line 3/);
  });

  it("a handler named like a module of the standard library is the user's", async () => {
    const image = await inlineImage(python, { "json.py": "def handle(event): return 'mine'\n" });
    const replica = await startReplica(python, image, { SLESS_ENTRYPOINT: "json.handle" });
    expect((await act(replica.origin, "")).body.toString()).toBe("mine");
    await killReplica(replica);
  });

  it("modules of the source hide none of the server's, and packages of the machine are out of sight", async () => {
    const code = "import log, sys\ndef handle(event): return [log.NAME, any('site-packages' in p for p in sys.path)]\n";
    const { origin } = await inlineReplica(python, {
      "handler.py": code,
      "log.py": "NAME = 'mine'",
      "settings.py": "1/0",
    });
    expect((await act(origin, "")).json).toEqual(["mine", false]);
  });

  it("dependencies come before the standard library and after the source", async () => {
    const deps = await temporaryFolder();
    await writeFiles(deps, { "greeter/__init__.py": "NAME = 'dependency'", "both.py": "NAME = 'dependency'" });
    const code = "import greeter, both\ndef handle(event): return [greeter.NAME, both.NAME]\n";
    const image = await inlineImage(python, { "handler.py": code, "both.py": "NAME = 'source'" }, { deps });
    const replica = await startReplica(python, image);
    expect((await act(replica.origin, "")).json).toEqual(["dependency", "source"]);
    await killReplica(replica);
  });

  it("a package may hold the handler, and its own imports may be relative", async () => {
    const files = {
      "app/__init__.py": "from .deep import handle",
      "app/deep.py": "from . import names\ndef handle(event): return names.NAME",
      "app/names.py": "NAME = 'deep'",
    };
    const replica = await startReplica(python, await inlineImage(python, files), { SLESS_ENTRYPOINT: "app.handle" });
    expect((await send(replica.origin)).body.toString()).toBe("deep");
    await killReplica(replica);
  });

  it("the source stays as it was", async () => {
    const image = await inlineImage(python, {
      "handler.py": "import other\ndef handle(event): return 1",
      "other.py": "",
    });
    const replica = await startReplica(python, image);
    await killReplica(replica);
    const { readdir } = await import("node:fs/promises");
    expect((await readdir(join(image.folder, "source"))).sort()).toEqual(["handler.py", "other.py"]);
  });
});
