import { expect, it } from "vitest";
import type { ResourceStore } from "../../src/resources/index.ts";
import type { ObjectStore } from "../../src/storage/index.ts";
import { approveDeletions } from "../../src/sync/index.ts";
import { functionFolder, functionYaml, handler } from "../support/function-files.ts";
import { endState, KEY, type SyncWorld, syncWorld } from "./sync-world.ts";

/** Writes of all ports are counted; the process "dies" before or after the n-th of them: nothing is done afterwards. */
interface Killer {
  at: number;
  when: "before" | "after";
  count: number;
  /** Writes of the sync that dies. */
  writes: number;
  isDead: boolean;
}

class Killed extends Error {}

function mortal<T extends object>(port: T, methods: readonly (keyof T)[], killer: Killer): T {
  const copy = { ...port };
  for (const method of Object.keys(port) as (keyof T)[]) {
    const call = port[method] as (...args: unknown[]) => unknown;
    copy[method] = ((...args: unknown[]) => {
      if (killer.isDead) return Promise.reject(new Killed());
      if (!methods.includes(method)) return call(...args);
      killer.count += 1;
      if (killer.count !== killer.at) return call(...args);
      if (killer.when === "after") {
        const done = Promise.resolve(call(...args));
        return done.then(() => die(killer));
      }
      return die(killer);
    }) as T[keyof T];
  }
  return copy;
}

function die(killer: Killer): Promise<never> {
  killer.isDead = true;
  return Promise.reject(new Killed());
}

const WRITES: readonly (keyof ResourceStore)[] = ["create", "apply", "patch", "updateStatus", "delete"];
const PUTS: readonly (keyof ObjectStore)[] = ["put"];

const BEFORE = { ...functionFolder("a"), ...functionFolder("b"), ...functionFolder("c"), ...functionFolder("d") };
/** A change of everything at once: new, changed, moved, removed beyond the guard. */
const AFTER = {
  "functions/a/handler.py": handler("changed"),
  "functions/b": null,
  "functions/c": null,
  "functions/d": null,
  "moved/function.yaml": functionYaml("c"),
  "moved/handler.py": handler(),
  ...functionFolder("new"),
};

/** Syncs, pushes, dies at the given write of the second sync, starts anew and comes to rest. */
async function lifeWith(killer: Killer): Promise<SyncWorld> {
  const world = await syncWorld(BEFORE, {
    store: (store) => mortal(store, WRITES, killer),
    objects: (objects) => mortal(objects, PUTS, killer),
  });
  const { at } = killer;
  killer.at = -1;
  await world.sync();
  await world.git.commit("everything", AFTER);
  killer.at = at;
  killer.count = 0;
  await world.sync().catch(() => {});
  killer.writes = killer.count;
  killer.at = -1;
  killer.isDead = false;
  await world.restart();
  await world.sync();
  await approveDeletions(world.store, KEY);
  await world.sync();
  await world.sync();
  return world;
}

it.each(["before", "after"] as const)("a process killed %s any of its writes comes to the same end", async (when) => {
  const undisturbed = { at: 0, when, count: 0, writes: 0, isDead: false };
  const world = await lifeWith(undisturbed);
  const expected = await endState(world);
  expect(await world.names()).toEqual([
    "Function/demo/a",
    "Function/demo/c",
    "Function/demo/new",
    "Trigger/demo/a-http",
    "Trigger/demo/new-http",
  ]);
  expect(undisturbed.writes).toBeGreaterThan(8);
  for (let at = 1; at <= undisturbed.writes; at += 1) {
    const killed = await lifeWith({ at, when, count: 0, writes: 0, isDead: false });
    expect(await endState(killed), `killed ${when} write ${at}`).toEqual(expected);
    expect(await killed.ready()).toBe("True ReconciliationSucceeded");
  }
});
