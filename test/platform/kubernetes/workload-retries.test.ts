import { expect, it } from "vitest";
import type { WorkloadRef } from "../../../src/apis/index.ts";
import { ApiError } from "../../../src/kubernetes/index.ts";
import { DEFAULT_SETTINGS } from "../../../src/platform/kubernetes/settings.ts";
import { type WorkloadDeps, workloadRuns } from "../../../src/platform/kubernetes/workload-runs.ts";
import { specOf } from "../../contract/platform.ts";
import { manualClock } from "../../support/manual-clock.ts";

const workload: WorkloadRef = { kind: "Function", namespace: "demo", name: "hello" };
const spec = specOf("image@sha256:1", { workload });

it("a workload that is refused is tried again once in a while, however often it was changed meanwhile", async () => {
  const clock = manualClock();
  const told: string[] = [];
  const runs = workloadRuns({
    ...refusingCluster(),
    clock,
    check: () => undefined,
    tell: ({ name }) => void told.push(name),
  });
  for (let memoryMB = 100; memoryMB < 400; memoryMB += 1) {
    const { failure } = await runs.apply({ ...spec, memoryMB }, 1);
    expect(failure?.reason).toBe("Refused");
  }
  await clock.advance(600_000);
  expect(told).toEqual(["hello"]);
  await runs.apply(spec, 1);
  runs.forget(workload);
  await clock.advance(600_000);
  expect(told).toEqual(["hello"]);
});

/** Nothing runs there, and nothing is taken. */
function refusingCluster(): Omit<WorkloadDeps, "clock" | "check" | "tell"> {
  const empty = { get: () => undefined, onChange: () => () => undefined };
  const view = {
    namespaces: empty,
    deployments: empty,
    services: empty,
    secrets: empty,
    deployment: () => undefined,
    children: () => [],
    replicaSets: () => [],
  };
  return {
    log: { warn: () => undefined },
    settings: DEFAULT_SETTINGS,
    view: view as unknown as WorkloadDeps["view"],
    writer: {
      differs: () => true,
      apply: () => Promise.reject(new ApiError(403, { message: "no functions on Fridays" })),
      remove: async () => undefined,
    },
    secrets: { read: async () => ({}), known: () => [] },
    namespaces: { ensure: async () => undefined },
    registry: { name: undefined, ensure: async () => undefined, start: async () => undefined },
  };
}
