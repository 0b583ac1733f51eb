import { expect, it, onTestFinished } from "vitest";
import { startClusterApp } from "../../support/cluster-app.ts";
import { eventually } from "../../support/eventually.ts";
import { describeOnOwnControlPlane } from "../../support/kubernetes/index.ts";
import { GROUP, tenantOf } from "./fault-world.ts";

describeOnOwnControlPlane("a tenant who writes whatever the API server takes", {}, (cluster) => {
  it("changes nothing of another tenant, whose pushes arrive as ever", async () => {
    const app = await startClusterApp(cluster());
    onTestFinished(() => app.close());
    const victim = await tenantOf(cluster(), { hello: { text: "hello" } });
    const { repository, functions, deployments } = await victim.converged();
    const [theirs] = functions;
    const hostile = await cluster().createNamespace("hostile");
    const path = (plural: string, name = "") => `${GROUP}/namespaces/${hostile}/${plural}${name && `/${name}`}`;
    const write = async (plural: string, kind: string, name: string, spec: object, metadata: object = {}) => {
      const body = { apiVersion: "sless.kube5s.ru/v1alpha1", kind, metadata: { name, ...metadata }, spec };
      return (await cluster().request("POST", path(plural), { body })).status;
    };
    const code = { runtime: "python3.11" };
    const { metadata, spec, status } = theirs;

    for (const name of ["a".repeat(53), "a".repeat(63), "a".repeat(253)])
      expect(await write("functions", "Function", name, code)).toBe(422);
    expect(await write("triggers", "Trigger", "far", { type: "http", functionRef: `${victim.namespace}/hello` })).toBe(
      422,
    );
    expect(await write("functionjobs", "FunctionJob", "far", { functionRef: "../hello", runID: 1 })).toBe(422);
    const env = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`V${index}`, "x"]));
    expect(await write("functions", "Function", "many", { ...code, env })).toBe(422);
    const secretEnv = { T: { secret: "sécret", key: "k" } };
    expect(await write("functions", "Function", "unicode", { ...code, secretEnv })).toBe(422);

    // What it takes: the source, the owner and the labels of another's, and another's as the owner.
    const owner = { apiVersion: "sless.kube5s.ru/v1alpha1", kind: "Function", name: "hello", uid: metadata.uid };
    const { labels, annotations } = metadata;
    const forged = { labels, annotations, finalizers: ["example.com/hold"] };
    expect(await write("functions", "Function", "hello", { ...code, s3Key: spec.s3Key }, forged)).toBe(201);
    expect(await write("services", "Service", "owned", code, { ownerReferences: [owner] })).toBe(201);
    const asHello = `${repository.metadata.uid}/Function/${hostile}/mine`;
    expect(
      await write("functions", "Function", "mine", code, { annotations: { "sless.kube5s.ru/owner": asHello } }),
    ).toBe(201);
    const contentType = "application/merge-patch+json";
    const body = { status: { ...status, imageRef: deployments[0].spec.template.spec.containers[0].image } };
    await cluster().request("PATCH", `${path("functions", "hello")}/status`, { body, contentType });
    const edits = Array.from({ length: 100 }, (_, index) =>
      cluster().request("PATCH", path("functions", "hello"), { body: { spec: { memoryMB: 64 + index } }, contentType }),
    );
    await Promise.all(edits);

    await victim.push({ hello: { text: "hello again" }, more: { text: "more" } });
    const after = await victim.converged();
    expect(after.functions.map(({ metadata: { name } }) => name).sort()).toEqual(["hello", "more"]);
    expect(after.functions.find(({ metadata: { uid } }) => uid === metadata.uid)).toBeDefined();
    const runs = await cluster().request("GET", `/apis/apps/v1/namespaces/sless-fn-${hostile}/deployments`);
    expect(runs.body.items ?? []).toEqual([]);
    // The status that was written by hand is put right with the edits.
    const reasonOf = async () => {
      const { body: copy } = await cluster().request("GET", path("functions", "hello"));
      return copy.status?.conditions?.find(({ type }: { type: string }) => type === "Ready")?.reason;
    };
    await eventually("its status says what is wrong", reasonOf, (reason) => reason === "SourceKeyForeign");
  });
});
