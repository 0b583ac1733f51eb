import { expect, it } from "vitest";
import { ANNOTATIONS } from "../../src/apis/index.ts";
import type { ResourceStore } from "../../src/resources/index.ts";
import { eventually } from "../support/eventually.ts";
import { functionFolder } from "../support/function-files.ts";
import { type DriftWorld, driftWorld, versions } from "../sync/drift-world.ts";

/** How sync answers whoever changes its objects, on any ResourceStore; whoever opens it cleans up after workloads. */
export function driftContract(open: () => Promise<{ store: ResourceStore; namespace: string }>): void {
  const openWorld = async () => driftWorld(functionFolder("hello"), await open());
  const edit = ({ store, namespace }: DriftWorld, spec: Record<string, unknown>) =>
    store.patch("Function", { namespace, name: "hello" }, { spec }, { owner: "api" });

  it("an object that is edited behind its back is put back at once, and no server is asked", async () => {
    const world = await openWorld();
    const asked = world.asked();
    await edit(world, { entrypoint: "other.handle", runtime: "nodejs20" });
    await world.until("it is put back", (seen) => seen?.spec.runtime === "python3.11");
    await world.controller.idle();
    expect(world.asked()).toBe(asked);
  });

  it("one that is deleted is made anew at once", async () => {
    const world = await openWorld();
    const asked = world.asked();
    const before = (await world.get("Function", "hello"))!.metadata.uid;
    await world.store.delete("Function", { namespace: world.namespace, name: "hello" });
    await world.until("it is there again", (seen) => seen !== undefined && seen.metadata.uid !== before);
    await world.controller.idle();
    expect(world.asked()).toBe(asked);
  });

  it("both also while the server does not answer, which stays told", async () => {
    const world = await openWorld();
    world.cut();
    world.controller.hint({ namespace: world.namespace, name: "site" });
    const reason = async () => (await world.repository()).status?.conditions?.[0]?.reason;
    await eventually("it is told", reason, (seen) => seen === "GitOperationFailed");
    await edit(world, { runtime: "nodejs20" });
    await world.until("it is put back", (seen) => seen?.spec.runtime === "python3.11");
    await world.controller.idle();
    expect(await reason()).toBe("GitOperationFailed");
  });

  it("a status and what the manifest leaves to others lead to no write", async () => {
    const world = await openWorld();
    const hello = (await world.get("Function", "hello"))!;
    await world.store.updateStatus(hello, { ...hello.status, message: "news" });
    await edit(world, { replicas: 3 });
    await world.until("it is seen", (seen) => seen?.spec.replicas === 3);
    await world.controller.idle();
    const before = await versions(world);
    world.controller.hint({ namespace: world.namespace, name: "site" });
    await world.controller.idle();
    expect(await versions(world)).toEqual(before);
  });

  it("`requestedAt` makes it ask the server", async () => {
    const world = await openWorld();
    const asked = world.asked();
    const annotations = { [ANNOTATIONS.requestedAt]: "now" };
    const key = { namespace: world.namespace, name: "site" };
    await world.store.patch("Repository", key, { metadata: { annotations } }, { owner: "api" });
    await eventually("it is handled", world.repository, ({ status }) => status?.lastHandledReconcileAt === "now");
    expect(world.asked()).toBe(asked + 1);
  });

  it("whoever writes against it again and again is answered after pauses, and that is told once", async () => {
    const world = await openWorld();
    const fights = () => world.events.filter((event) => event.step === "failed" && event.reason === "WritersConflict");
    const begun = performance.now();
    for (let round = 0; round < 4; round += 1) {
      await edit(world, { runtime: "nodejs20" });
      await world.until("it is put back", (seen) => seen?.spec.runtime === "python3.11");
    }
    expect(fights()).toHaveLength(1);
    await edit(world, { runtime: "nodejs20" });
    await world.until("it is put back in the end", (seen) => seen?.spec.runtime === "python3.11");
    // A second before the fourth time, two before the fifth.
    expect(performance.now() - begun).toBeGreaterThan(2_900);
    expect(fights()).toHaveLength(1);
  });
}
