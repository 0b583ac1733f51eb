import { afterAll, beforeAll, describe, inject, it } from "vitest";
import type { ControlPlane, ControlPlaneOptions, TestCluster } from "./cluster.ts";
import { startControlPlane } from "./control-plane.ts";
import { testCluster } from "./shared-cluster.ts";

/** On a busy machine that also builds the servers for the first time. */
const START_WITHIN_MS = 20 * 60_000;

/**
 * A suite on the shared cluster (see `testCluster`), which tests get by calling `cluster`. Where the servers cannot be
 * had it is skipped, with the reason in its name; with `CI=true` that is a failure.
 */
export function describeOnCluster(name: string, suite: (cluster: () => TestCluster) => void): void {
  describeWithServers(name, () => {
    let cluster: TestCluster | undefined;
    beforeAll(async () => {
      cluster = await testCluster();
    }, START_WITHIN_MS);
    suite(() => cluster!);
  });
}

/** The same on a control plane of its own, for suites that stop servers or change what all would see. */
export function describeOnOwnControlPlane(
  name: string,
  options: ControlPlaneOptions,
  suite: (controlPlane: () => ControlPlane) => void,
): void {
  describeWithServers(name, () => {
    let controlPlane: ControlPlane | undefined;
    beforeAll(async () => {
      controlPlane = await startControlPlane(options);
    }, START_WITHIN_MS);
    afterAll(() => controlPlane?.stop());
    suite(() => controlPlane!);
  });
}

/** The same for a suite that starts what it needs by itself, or only needs a program of `test/servers`. */
export function describeWithServers(name: string, suite: () => void): void {
  const { missing } = inject("testServers");
  if (missing === undefined) describe(name, suite);
  else if (process.env.CI === "true") it(`${name}: its servers are there`, () => Promise.reject(new Error(missing)));
  else describe.skip(`${name} (skipped: ${missing})`, suite);
}
