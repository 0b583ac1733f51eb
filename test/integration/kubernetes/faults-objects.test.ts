import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { SlessClient } from "../../../src/server/client.ts";
import { startClusterApp, type TestClusterApp } from "../../support/cluster-app.ts";
import { eventually } from "../../support/eventually.ts";
import { type InstantBuilder, instantBuilder } from "../../support/instant-builder.ts";
import { describeOnOwnControlPlane, refuseObjects } from "../../support/kubernetes/index.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { conditionOf, done, GROUP, isTrue, type Live, lives, many, type Tenant, tenantOf } from "./fault-world.ts";

const WRITERS_MS = 3_000;
/** Pods of a tenant, unless the test says otherwise. */
const QUOTA = { pods: "12" };

describeOnOwnControlPlane("sless among others who write, refuse and limit", {}, (controlPlane) => {
  let sless: TestClusterApp;
  let builder: InstantBuilder;
  let client: SlessClient;
  beforeAll(async () => {
    builder = instantBuilder();
    const env = { TENANT_QUOTA: JSON.stringify(QUOTA) };
    sless = await startClusterApp(controlPlane(), { builder, env });
    client = sless.client();
  });
  afterAll(() => sless?.close());

  const read = async (path: string): Promise<Live> => (await controlPlane().request("GET", path)).body;
  const functionPath = ({ namespace }: Tenant, name: string) => `${GROUP}/namespaces/${namespace}/functions/${name}`;
  const deploymentsPath = ({ namespace }: Tenant) => `/apis/apps/v1/namespaces/sless-fn-${namespace}/deployments`;
  const untilFunction = (what: string, tenant: Tenant, name: string, holds: (object: Live) => boolean) =>
    eventually(what, () => read(functionPath(tenant, name)), holds);
  const merge = (path: string, body: object) =>
    controlPlane().request("PATCH", path, { body, contentType: "application/merge-patch+json" });

  it("who applies other values to objects of a repository, again and again, loses; nobody else is touched", async () => {
    const tenant = await tenantOf(controlPlane(), { ...many(4), f1: { text: "one 1", env: { MODE: "plain" } } });
    const before = await tenant.converged();
    const end = performance.now() + WRITERS_MS;
    let memoryMB = 512;
    while (performance.now() < end) {
      memoryMB += 1;
      const body = { apiVersion: "sless.kube5s.ru/v1alpha1", kind: "Function", spec: { memoryMB } };
      await done(
        controlPlane().request("PATCH", `${functionPath(tenant, "f0")}?fieldManager=mallory&force=true`, { body }),
      );
      await merge(functionPath(tenant, "f1"), { spec: { env: { MODE: String(memoryMB) } } });
      await controlPlane().request("DELETE", `${GROUP}/namespaces/${tenant.namespace}/triggers/f1-http`);
      await merge(`${deploymentsPath(tenant)}/f2`, { spec: { replicas: 0 } });
      await setTimeout(50);
    }
    const after = await tenant.converged();
    expect(lives(after.deployments).f3).toBe(lives(before.deployments).f3);
    expect(lives(after.functions).f3).toBe(lives(before.functions).f3);
    expect(after.functions.map(({ metadata }) => metadata.uid)).toEqual(
      before.functions.map(({ metadata }) => metadata.uid),
    );
    const versions = async () => (await tenant.standing()).functions.map(({ metadata }) => metadata.resourceVersion);
    await eventually(
      "it is over: nothing is written any more",
      async () => {
        const before = await versions();
        await setTimeout(1_000);
        return [before, await versions()];
      },
      ([earlier, later]) => JSON.stringify(earlier) === JSON.stringify(later),
    );
  });

  it("a REST write that races with pushes is refused or belongs to the API's own fields, and pushes win", async () => {
    const tenant = await tenantOf(controlPlane(), many(2));
    await tenant.converged();
    const { namespace } = tenant;
    const refusals: number[] = [];
    for (let round = 1; round <= 5; round += 1) {
      const pushing = tenant.push({ f0: { text: `round ${round}`, memoryMB: 128 + round } });
      await client
        .patch("functions", "f0", { memory_mb: 1_024 }, { namespace })
        .catch(({ status }: { status: number }) => refusals.push(status));
      await client.patch("functions", "f0", { replicas: 1 }, { namespace });
      await pushing;
    }
    expect(refusals).toEqual([409, 409, 409, 409, 409]);
    await tenant.converged();
  });

  it("an object that admission refuses is told, at itself and in the Repository; the others go on", async () => {
    const tenant = await tenantOf(controlPlane(), many(3));
    const before = await tenant.converged();
    const { namespace } = tenant;
    const refusal = {
      namespace,
      apiGroup: "sless.kube5s.ru",
      resource: "functions",
      because: ({ metadata }: { metadata: { name: string } }) =>
        metadata.name === "f1" || metadata.name === "fresh" ? "f1 is frozen until Monday" : undefined,
    };
    {
      await using _webhook = await refuseObjects(controlPlane(), refusal);
      await tenant.push({ f0: { text: "new" }, f1: { text: "new" }, f2: { text: "new" }, fresh: { text: "new" } });
      const image = (standing: typeof before, name: string) =>
        standing.functions.find(({ metadata }) => metadata.name === name)?.status?.imageRef;
      const during = await eventually(
        "the others serve the new code",
        tenant.standing,
        (standing) =>
          ["f0", "f2"].every(
            (name) =>
              image(standing, name) !== image(before, name) &&
              standing.functions.some((one) => one.metadata.name === name && isTrue(one, "Ready")),
          ) && standing.repository.status.conditions.some(({ status }: Live) => status === "False"),
      );
      expect(JSON.stringify(during.repository.status)).toContain("f1 is frozen until Monday");
      expect(during.repository.status.lastAppliedRevision).toBe(before.repository.status.lastAppliedRevision);
      const frozen = await untilFunction(
        "it is told at the object",
        tenant,
        "f1",
        (object) => conditionOf(object, "Applied")?.status === "False",
      );
      expect(JSON.stringify(frozen.status.conditions)).toContain("f1 is frozen until Monday");
      const generationOf = (standing: typeof before) =>
        standing.functions.find(({ metadata }) => metadata.name === "f1")?.metadata.generation;
      expect(frozen.metadata.generation).toBe(generationOf(before));
      expect(isTrue(frozen, "Ready")).toBe(true);
      // Its old code serves on.
      expect(image(during, "f1")).toBe(image(before, "f1"));
      expect(lives(during.deployments).f1).toBe(lives(before.deployments).f1);
      // Who writes its status meanwhile leaves that in it.
      await merge(`${deploymentsPath(tenant)}/f1`, { spec: { replicas: 0 } });
      const version = frozen.metadata.resourceVersion;
      const again = await untilFunction(
        "it serves again",
        tenant,
        "f1",
        (object) => object.metadata.resourceVersion !== version && isTrue(object, "Ready") && isTrue(object, "Serving"),
      );
      expect(conditionOf(again, "Applied")).toEqual(conditionOf(frozen, "Applied"));
    }
    await tenant.hint();
    await tenant.converged();
    await untilFunction("nothing is told of it any more", tenant, "f1", (object) => !conditionOf(object, "Applied"));
  });

  it("a child that admission refuses is told in its function's status, and made once that is over", async () => {
    const tenant = await tenantOf(controlPlane(), { f0: { text: "one" } });
    await tenant.converged();
    const refusal = {
      namespace: `sless-fn-${tenant.namespace}`,
      apiGroup: "apps",
      resource: "deployments",
      because: ({ metadata }: { metadata: { name: string } }) =>
        metadata.name === "refused" ? "no image of this registry" : undefined,
    };
    {
      await using _webhook = await refuseObjects(controlPlane(), refusal);
      await tenant.push({ refused: { text: "one" }, f0: { text: "two" } });
      const told = await untilFunction("it is told", tenant, "refused", (object) =>
        JSON.stringify(object.status ?? {}).includes("no image of this registry"),
      );
      expect(told.status.phase).toBe("Failed");
      await untilFunction("the other is ready", tenant, "f0", (object) => isTrue(object, "Ready"));
    }
    await tenant.converged();
  });

  it("what a quota leaves no room for is told, and runs once the quota is raised", async () => {
    const tenant = await tenantOf(controlPlane(), many(2));
    const before = await tenant.converged();
    const quotas = `/api/v1/namespaces/sless-fn-${tenant.namespace}/resourcequotas`;
    await tenant.push(many(14, "one", "g"));
    const pending = await eventually(
      "some have no room, and say so",
      async () =>
        (await tenant.standing()).functions.filter((object) =>
          JSON.stringify(object.status ?? {}).includes("exceeded quota"),
        ),
      (found) => found.length === 4,
    );
    for (const object of pending) expect(isTrue(object, "Ready")).toBe(false);
    expect((await read(quotas)).items.map((one: Live) => one.spec.hard)).toEqual([QUOTA]);
    expect(lives((await tenant.standing()).deployments)).toMatchObject(lives(before.deployments));

    // The installation's own quota is kept as it says; an operator raises it by another restart of sless.
    await sless.close();
    const env = { TENANT_QUOTA: JSON.stringify({ pods: "40" }) };
    sless = await startClusterApp(controlPlane(), { builder, env });
    client = sless.client();
    const after = await tenant.converged();
    expect(after.deployments.map(({ metadata }) => metadata.generation)).toEqual(Array(16).fill(1));
  });

  it("a version whose image cannot be pulled is told, and the one before it serves on", async () => {
    const data = await temporaryFolder();
    await sless.close();
    sless = await startClusterApp(controlPlane(), { builder, data });
    client = sless.client();
    const tenant = await tenantOf(controlPlane(), many(2));
    const before = await tenant.converged();
    const image = before.functions[0].status.imageRef;
    builder.misplace("f0", true);
    await tenant.push({ f0: { text: "cannot be pulled" } });
    const { status } = await untilFunction(
      "it is told",
      tenant,
      "f0",
      (object) => conditionOf(object, "Ready")?.reason !== "Ready" && object.status.phase === "Failed",
    );
    expect(status).toMatchObject({ phase: "Failed", imageRef: image });
    expect(JSON.stringify(status.conditions)).toContain("ImagePullBackOff");
    const deployment = await read(`${deploymentsPath(tenant)}/f0`);
    expect(deployment.spec.strategy.rollingUpdate.maxUnavailable).toBe(0);
    expect(deployment.status.readyReplicas).toBe(1);
    builder.misplace("f0", false);
    await tenant.push({ f0: { text: "can be pulled" } });
    const after = await tenant.converged();
    expect(lives(after.deployments).f1).toBe(lives(before.deployments).f1);
  });
});
