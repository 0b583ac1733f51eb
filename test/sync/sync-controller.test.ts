import { rename } from "node:fs/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { ANNOTATIONS, type Kind, type ObjectOf } from "../../src/apis/index.ts";
import type { GitReader } from "../../src/source/index.ts";
import { approveDeletions, createSyncController, type SyncController } from "../../src/sync/index.ts";
import { eventually } from "../support/eventually.ts";
import { functionFolder, functionYaml, handler } from "../support/function-files.ts";
import { syncInformers } from "../support/sync-informers.ts";
import { KEY, openGit, type SyncWorld, syncWorld, type WorldOptions } from "./sync-world.ts";

interface ControlledWorld extends SyncWorld {
  readonly controller: SyncController;
  /** Commits that were resolved, one per run. */
  readonly runs: string[];
  /** How many approved deletions the controller knows of. */
  approvals(): number;
  /** Resolves when the world has come to rest at the repository's head. */
  settled(): Promise<void>;
  /** Resolves when this commit is what was applied last. */
  applied(commit: string): Promise<unknown>;
}

const APPROVAL_QUIET_MS = 250;

function isApproved({ metadata }: Pick<ObjectOf<Kind>, "metadata">): boolean {
  return metadata.annotations?.[ANNOTATIONS.deletionApproved] !== undefined;
}

/** The controller has seen that so many deletions are approved, and waits whether more are. */
async function approvalSeen(world: ControlledWorld, count: number): Promise<void> {
  await eventually("the approval is seen", world.approvals, (seen) => seen === count);
}

/** A world whose repository is synced by a controller over informers. */
async function controlled(files: Record<string, string>, options: WorldOptions = {}, atResolve = async () => {}) {
  const world = await syncWorld(files, options);
  const informers = await syncInformers(world.store);
  const runs: string[] = [];
  const noting = (git: GitReader): GitReader => ({
    ...git,
    async resolve(ref) {
      const resolved = await git.resolve(ref);
      runs.push(resolved.commit);
      await atResolve();
      return resolved;
    },
  });
  const deps = world.deps({ openGit: async (repository) => noting(await openGit(repository.spec.url)) });
  const controller = createSyncController({ ...deps, informers });
  onTestFinished(() => controller.stop());
  const settled = async () => {
    await eventually(
      "applied",
      () => world.status(),
      (status) => status.lastAppliedRevision?.endsWith(runs.at(-1) ?? "?") ?? false,
    );
    await controller.idle();
  };
  const approvals = () =>
    [informers.functions, informers.triggers].flatMap((one) => one.list(KEY.namespace).filter(isApproved)).length;
  const applied = (commit: string) =>
    eventually(
      "the commit is applied",
      () => world.status(),
      (status) => status.lastAppliedRevision === `main@sha1:${commit}`,
    );
  return { ...world, controller, runs, approvals, settled, applied } satisfies ControlledWorld;
}

describe("a repository is synced", () => {
  it("when it is there at the start, and then no more without a reason", async () => {
    const world = await controlled(functionFolder("hello"));
    await world.settled();
    expect(await world.names()).toEqual(["Function/demo/hello", "Trigger/demo/hello-http"]);
    world.writes();
    world.controller.hint(KEY);
    await world.controller.idle();
    expect(world.writes()).toEqual([]);
  });

  it("on a hint, with what was pushed", async () => {
    const world = await controlled(functionFolder("hello"));
    await world.settled();
    const commit = await world.git.commit("code", { "functions/hello/handler.py": handler("new") });
    world.controller.hint(KEY);
    await world.settled();
    expect((await world.status()).lastAppliedRevision).toBe(`main@sha1:${commit}`);
  });

  it("once for each commit, for it knows its own writes", async () => {
    const world = await controlled(functionFolder("hello"));
    await world.settled();
    const commits = [world.git.head];
    for (const text of ["one", "two", "three"]) {
      commits.push(await world.git.commit(text, { "functions/hello/handler.py": handler(text) }));
      world.controller.hint(KEY);
      await world.settled();
    }
    commits.push(await world.git.commit("more", functionFolder("other")));
    world.controller.hint(KEY);
    await world.settled();
    expect(await world.names()).toHaveLength(4);
    expect(world.runs).toEqual(commits);
  });

  it("again when somebody writes an object during its run", async () => {
    let meddle = async () => {};
    const world = await controlled(functionFolder("hello"), {}, () => meddle());
    await world.settled();
    await world.git.commit("code", { "functions/hello/handler.py": handler("new") });
    meddle = async () => {
      meddle = async () => {};
      const patch = { metadata: { labels: { "sless.kube5s.ru/repository": null } } };
      await world.store.patch("Function", { namespace: KEY.namespace, name: "hello" }, patch, { owner: "api" });
    };
    const before = world.runs.length;
    world.controller.hint(KEY);
    await world.settled();
    await eventually(
      "it looked again",
      () => world.runs.length,
      (count) => count === before + 2,
    );
    const { labels } = (await world.get("Function", "hello"))!.metadata;
    expect(labels?.["sless.kube5s.ru/repository"]).toBeDefined();
  });

  it("after its interval without a hint", async () => {
    const world = await controlled(functionFolder("hello"), { spec: { interval: "5m" } });
    await world.settled();
    const commit = await world.git.commit("code", { "functions/hello/handler.py": handler("new") });
    await eventually(
      "it waits for the interval",
      () => world.clock.timers(),
      (timers) => timers.includes(300_000),
    );
    world.clock.advance(300_000);
    await world.applied(commit);
  });

  it("after its interval at the latest when it fails again and again", async () => {
    const world = await controlled(functionFolder("hello"), { spec: { interval: "5s" } });
    await world.settled();
    await rename(world.git.dir, `${world.git.dir}-away`);
    world.controller.hint(KEY);
    for (let failures = 0; failures < 10; failures += 1) {
      await world.controller.idle();
      const [soonest = 0] = await eventually(
        "it waits",
        () => world.clock.timers(),
        (timers) => timers.length > 0,
      );
      expect(soonest).toBeLessThan(5_001);
      world.clock.advance(soonest);
    }
  });

  it("when its spec changes, and when somebody asks", async () => {
    const world = await controlled({
      ...functionFolder("hello"),
      "two/function.yaml": functionYaml("two"),
      "two/handler.py": handler(),
    });
    await world.settled();
    await world.setSpec({ path: "two" });
    await eventually(
      "path followed",
      () => world.names(),
      (names) => names.join() === "Function/demo/two",
    );
    await world.controller.idle();
    await world.store.patch(
      "Repository",
      KEY,
      { metadata: { annotations: { [ANNOTATIONS.requestedAt]: "t1" } } },
      { owner: "api" },
    );
    await eventually(
      "request handled",
      () => world.status(),
      (status) => status.lastHandledReconcileAt === "t1",
    );
  });

  it("when somebody changes one of its objects, which is set back at once", async () => {
    const world = await controlled({
      ...functionFolder("hello"),
      "functions/hello/function.yaml": functionYaml("hello", { memoryMB: 128 }),
    });
    await world.settled();
    await world.store.patch(
      "Function",
      { namespace: "demo", name: "hello" },
      { spec: { memoryMB: 512 } },
      { owner: "api" },
    );
    await eventually(
      "set back",
      () => world.get("Function", "hello"),
      (hello) => hello?.spec.memoryMB === 128,
    );
    await world.controller.idle();
    world.writes();
    await world.store.delete("Function", { namespace: "demo", name: "hello" });
    await eventually(
      "it is back",
      () => world.names(),
      (names) => names.includes("Function/demo/hello"),
    );
  });

  it("not when only the status of an object changes", async () => {
    const world = await controlled(functionFolder("hello"));
    await world.settled();
    world.controller.hint(KEY);
    await world.controller.idle();
    const { length } = world.runs;
    await world.store.updateStatus((await world.get("Function", "hello"))!, { phase: "Pending" });
    await world.store.patch(
      "Function",
      { namespace: "demo", name: "hello" },
      { metadata: { labels: { team: "a" } } },
      { owner: "api" },
    );
    await eventually(
      "the label is seen",
      () => world.runs.length,
      (count) => count > length,
    );
    await world.controller.idle();
    expect(world.runs.length).toBe(length + 1);
  });

  it("again, when a hint comes in the middle of a run (lesson 10)", async () => {
    let push: () => Promise<void> = async () => {};
    const world = await controlled(functionFolder("hello"), {}, () => push());
    await world.settled();
    push = async () => {
      push = async () => {};
      await world.git.commit("late", { "functions/hello/handler.py": handler("late") });
      world.controller.hint(KEY);
    };
    world.controller.hint(KEY);
    await world.controller.idle();
    const head = await world.git.git("rev-parse", "HEAD");
    await world.applied(head);
  });

  it("until it is deleted", async () => {
    const world = await controlled(functionFolder("hello"), { spec: { deletionPolicy: "Delete" } });
    await world.settled();
    await world.store.delete("Repository", KEY);
    await eventually(
      "all is gone",
      async () => [...(await world.names()), await world.repository()],
      (left) => left.join() === "",
    );
  });
});

it("an approval is carried out without another push", async () => {
  const world = await controlled({
    ...functionFolder("a"),
    ...functionFolder("b"),
    ...functionFolder("c"),
    "README.md": "",
  });
  await world.settled();
  await world.git.commit("remove", { functions: null });
  world.controller.hint(KEY);
  await eventually(
    "held",
    () => world.ready(),
    (ready) => ready === "False DeletionsHeld",
  );
  await approveDeletions(world.store, KEY);
  await approvalSeen(world, 6);
  world.clock.advance(APPROVAL_QUIET_MS);
  await eventually(
    "deleted",
    () => world.names(),
    (names) => names.length === 0,
  );
  await eventually(
    "ready",
    () => world.ready(),
    (ready) => ready === "True ReconciliationSucceeded",
  );
});

it("an approval of many deletions is one sync, that tells all of them and that none waits", async () => {
  const names = Array.from({ length: 13 }, (_, index) => `f${index}`);
  const world = await controlled(Object.assign({ "README.md": "" }, ...names.map((name) => functionFolder(name))));
  await world.settled();
  await world.git.commit("remove", { functions: null });
  world.controller.hint(KEY);
  await eventually(
    "held",
    () => world.ready(),
    (ready) => ready === "False DeletionsHeld",
  );
  await world.controller.idle();
  world.events.length = 0;
  await approveDeletions(world.store, KEY);
  await approvalSeen(world, 26);
  await world.controller.idle();
  expect(await world.names()).toHaveLength(26);
  world.clock.advance(APPROVAL_QUIET_MS);
  await eventually(
    "ready",
    () => world.ready(),
    (ready) => ready === "True ReconciliationSucceeded",
  );
  expect(await world.names()).toEqual([]);
  expect(world.events.filter(({ step }) => step === "failed")).toEqual([]);
  await world.controller.idle();
  expect((await world.status()).plan?.counts).toMatchObject({ delete: 26 });
});
