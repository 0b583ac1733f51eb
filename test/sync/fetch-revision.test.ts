import { expect, it } from "vitest";
import { ANNOTATIONS } from "../../src/apis/index.ts";
import { functionFolder } from "../support/function-files.ts";
import { KEY, type SyncWorld, syncWorld } from "./sync-world.ts";

/** A world whose repository is behind a server; `asked` counts how often that was asked. */
async function serverWorld(): Promise<{ world: SyncWorld; asked: () => number }> {
  let count = 0;
  const world = await syncWorld(functionFolder("hello"), {
    git: (git) => ({
      ...git,
      asksServer: true,
      resolve(ref) {
        count += 1;
        return git.resolve(ref);
      },
    }),
  });
  await world.sync();
  const asked = () => {
    const before = count;
    count = 0;
    return before;
  };
  asked();
  return { world, asked };
}

it("runs that come one after the other ask a server once", async () => {
  const { world, asked } = await serverWorld();
  for (let run = 0; run < 3; run += 1) await world.sync();
  expect(asked()).toBe(0);
  world.clock.advance(10_000);
  for (let run = 0; run < 3; run += 1) await world.sync();
  expect(asked()).toBe(1);
  expect(await world.ready()).toBe("True ReconciliationSucceeded");
});

const reasons: [string, (world: SyncWorld) => unknown][] = [
  ["a hint", (world) => world.deps().memory.hint(KEY)],
  ["another ref", (world) => world.setSpec({ ref: { branch: "main" } })],
  ["another address", async (world) => world.setSpec({ url: `${world.git.dir}/.git` })],
  ["a restart", (world) => world.restart()],
  [
    "a request",
    (world) =>
      world.store.patch(
        "Repository",
        KEY,
        { metadata: { annotations: { [ANNOTATIONS.requestedAt]: "now" } } },
        { owner: "api" },
      ),
  ],
];
it.each(reasons)("after %s the server is asked, however short ago it was", async (_, change) => {
  const { world, asked } = await serverWorld();
  await change(world);
  await world.sync();
  expect(asked()).toBe(1);
  await world.sync();
  expect(asked()).toBe(0);
});

it("what a failed run found is asked for again", async () => {
  const { world, asked } = await serverWorld();
  await world.git.git("symbolic-ref", "HEAD", "refs/heads/gone");
  world.clock.advance(10_000);
  for (let run = 0; run < 3; run += 1) await world.sync();
  expect(asked()).toBe(3);
  await world.git.git("symbolic-ref", "HEAD", "refs/heads/main");
  await world.sync();
  expect(await world.ready()).toBe("True ReconciliationSucceeded");
});
