import { expect, it } from "vitest";
import { answering, pythonFunction, startTestApp } from "../support/embedded.ts";
import { eventually } from "../support/eventually.ts";
import { gitRepository } from "../support/git-repository.ts";

const PYTHON = `import time
held = []
def handle(event, context):
    for _ in range(event.get("times", 0)):
        held.append(b"x" * 20_000_000)
        time.sleep(0.02)
    if held:
        time.sleep(600)  # whoever is to end it may be late
    return "alive"
`;
const BUFFERS = `const held = [];
exports.handle = async ({ times = 0 }) => {
  for (let n = 0; n < times; n++) {
    held.push(Buffer.alloc(20_000_000, 1));
    await new Promise((done) => setTimeout(done, 20));
  }
  if (times > 0) await new Promise(() => {}); // whoever is to end it may be late
  return "alive";
};
`;
/** As much garbage as is asked for, and nothing that stays. */
const GARBAGE = `exports.handle = async ({ times = 0 }) => {
  let sum = 0;
  for (let n = 0; n < times; n++) {
    sum += Array.from({ length: 200_000 }, (_, i) => ({ i })).length;
    await null;
  }
  return sum;
};
`;
const HEAP = `const held = [];
exports.handle = async ({ times = 0 }) => {
  for (let n = 0; n < times; n++) held.push(Array.from({ length: 200_000 }, (_, i) => ({ i })));
  return "alive";
};
`;

/** No limit of time ends them before that of memory does. */
const LATE = { timeoutSec: 900 };

/** A Node function in place of a Python one. */
function nodeFunction(name: string, code: string): Record<string, string> {
  const files = pythonFunction(name, "", { runtime: "nodejs20", ...LATE });
  delete files[`functions/${name}/handler.py`];
  return { ...files, [`functions/${name}/handler.js`]: code };
}

it("a handler that grows is ended and told as OutOfMemory, and others live on", async () => {
  const repository = await gitRepository({
    ...pythonFunction("grows", PYTHON, LATE),
    ...nodeFunction("buffers", BUFFERS),
    ...nodeFunction("heap", HEAP),
    ...nodeFunction("garbage", GARBAGE),
    ...pythonFunction("other", answering("here")),
  });
  const { app, call, client } = await startTestApp(repository);
  await app.settled();
  const message = async (name: string) => (await client.get("functions", name, { namespace: "default" })).message ?? "";
  expect(await call("garbage", { times: 100 })).toEqual({ status: 200, body: 20_000_000 });

  // A heap has a limit of its own; the others must not take the machine's memory when nobody ends them.
  const growing = Object.entries({ grows: 20, buffers: 20, heap: 100 }).map(async ([name, times]) => {
    expect((await call(name, { times })).status).toBe(502);
    const told = await eventually(
      "it is told",
      () => message(name),
      (text) => text.includes("memoryMB is 128"),
    );
    expect(told).toMatch(
      /^It was ended because it used (\d+ MiB|its whole heap); its memoryMB is 128\. Set spec\.memoryMB higher/,
    );
    await eventually(
      `${name} answers again`,
      () => call(name),
      ({ status }) => status === 200,
    );
  });
  let isOver = false;
  const grown = Promise.all(growing).finally(() => {
    isOver = true;
  });
  while (!isOver) expect(await call("other")).toEqual({ status: 200, body: "here" });
  await grown;
  const { items } = (await (await fetch(`${app.url}/v1/namespaces/default/events`)).json()) as {
    items: { reason: string; object: { name: string } }[];
  };
  const reasons = items.filter(({ reason }) => reason === "OutOfMemory").map(({ object }) => object.name);
  expect([...new Set(reasons)].sort()).toEqual(["buffers", "grows", "heap"]);
});
