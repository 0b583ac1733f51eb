import { afterAll, beforeAll, describe, inject, it } from "vitest";
import { CONTROL_PLANE_SERVERS } from "../../servers/servers.ts";
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
  describeWithControlPlane(name, () => {
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
  describeWithControlPlane(name, () => {
    let controlPlane: ControlPlane | undefined;
    beforeAll(async () => {
      controlPlane = await startControlPlane(options);
    }, START_WITHIN_MS);
    afterAll(() => controlPlane?.stop());
    suite(() => controlPlane!);
  });
}

/** The same for a suite that starts what it needs by itself, by `buildServer("<name>")`. */
export function describeWithServers(name: string, suite: () => void): void {
  const reason = Object.values(inject("testServers").missing)[0];
  describeUnless(reason, name, suite);
}

function describeWithControlPlane(name: string, suite: () => void): void {
  const { missing } = inject("testServers");
  const reason = CONTROL_PLANE_SERVERS.map((server) => missing[server]).find((each) => each !== undefined);
  describeUnless(reason, name, suite);
}

function describeUnless(reason: string | undefined, name: string, suite: () => void): void {
  if (reason === undefined) describe(name, suite);
  else if (process.env.CI === "true") it(`${name}: its servers are there`, () => Promise.reject(new Error(reason)));
  else describe.skip(`${name} (skipped: ${reason})`, suite);
}
