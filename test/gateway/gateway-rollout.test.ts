import { expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { httpServer } from "../support/http-server.ts";
import { gatewayFixture, HELLO } from "./gateway-fixture.ts";

it("every call during three rollouts succeeds, and the last answers come from the last version", async () => {
  const { origin, platform } = await gatewayFixture();
  async function start(version: number) {
    const server = await httpServer(async (req, res) => {
      for await (const _ of req);
      setImmediate(() => res.end(`v${version}`));
    });
    return { ...server, replica: `v${version}` };
  }
  let current = await start(0);
  platform.serve(HELLO, [current]);

  const answers: string[] = [];
  let loading = true;
  const callers = Array.from({ length: 8 }, async (_, index) => {
    while (loading) {
      const init = index % 2 === 0 ? { method: "POST", body: "x".repeat(10_000) } : {};
      const answer = await fetch(`${origin}/fn/default/hello`, init);
      answers.push(`${answer.status} ${await answer.text()}`);
    }
  });
  for (const version of [1, 2, 3]) {
    const before = answers.length;
    await eventually(
      "calls are answered",
      () => answers.length,
      (count) => count > before + 50,
    );
    const next = await start(version);
    platform.serve(HELLO, [next]);
    await platform.drained(current.replica);
    await current.kill();
    current = next;
  }
  const before = answers.length;
  await eventually(
    "calls are answered",
    () => answers.length,
    (count) => count > before + 50,
  );
  loading = false;
  await Promise.all(callers);
  expect(answers.filter((answer) => !answer.startsWith("200 v"))).toEqual([]);
  expect(answers.at(-1)).toBe("200 v3");
});

it("connections to replicas that are gone are closed", async () => {
  const { origin, platform } = await gatewayFixture();
  const old = await httpServer((_req, res) => res.end("old"));
  let connections = 0;
  old.server.on("connection", (socket) => {
    connections += 1;
    socket.once("close", () => {
      connections -= 1;
    });
  });
  platform.serve(HELLO, [{ replica: "old", origin: old.origin }]);
  await (await fetch(`${origin}/fn/default/hello`)).text();
  expect(connections).toBe(1);
  platform.serve(HELLO, []);
  await eventually(
    "the connection is closed",
    () => connections,
    (open) => open === 0,
  );
});
