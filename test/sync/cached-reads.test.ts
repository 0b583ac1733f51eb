import { expect, it, onTestFinished } from "vitest";
import { cachedReads } from "../../src/sync/cached-reads.ts";
import { storeReads } from "../../src/sync/index.ts";
import { eventually } from "../support/eventually.ts";
import { functionFolder } from "../support/function-files.ts";
import { syncInformers } from "../support/sync-informers.ts";
import { KEY, syncWorld } from "./sync-world.ts";

it("sources that builds cannot read are told of from memory as from the store, whenever that changes", async () => {
  const world = await syncWorld({ ...functionFolder("hello"), ...functionFolder("other") });
  await world.sync();
  const reads = cachedReads(await syncInformers(world.store));
  onTestFinished(() => reads.close());
  const built = async (kind: "Function" | "FunctionJob", name: string, status: "True" | "False", reason: string) =>
    world.store.updateStatus<"Function" | "FunctionJob">((await world.get(kind, name))!, {
      conditions: [{ type: "BuildReady", status, reason, message: "", lastTransitionTime: "2026-01-01T00:00:00Z" }],
    });
  const job = { kind: "FunctionJob", metadata: { ...KEY, name: "report" }, spec: { functionRef: "other" } } as const;
  const steps: [change: () => Promise<unknown>, lacking: string[]][] = [
    [async () => undefined, []],
    [() => built("Function", "hello", "False", "SourceUnavailable"), ["hello"]],
    [() => built("Function", "hello", "False", "CommandFailed"), []],
    [() => built("Function", "hello", "False", "SourceUnavailable"), ["hello"]],
    [() => built("Function", "hello", "True", "Built"), []],
    [() => world.store.create<"FunctionJob">(job, { owner: "api" }), []],
    [() => built("FunctionJob", "report", "False", "SourceUnavailable"), ["other", "report"]],
  ];
  const namesIn = async (from: Pick<typeof reads, "lackingSource">) =>
    (await from.lackingSource(KEY.namespace)).map(({ metadata }) => metadata.name).sort();
  for (const [change, lacking] of steps) {
    await change();
    expect(await namesIn(storeReads(world.store))).toEqual(lacking);
    await eventually(
      "memory says the same",
      () => namesIn(reads),
      (names) => names.join() === lacking.join(),
    );
  }
});
