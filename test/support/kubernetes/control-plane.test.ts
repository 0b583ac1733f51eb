import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { eventually } from "../eventually.ts";
import { processesWith } from "../process-tree.ts";
import { watchChild } from "../watched-child.ts";
import { describeOnOwnControlPlane, describeWithServers, startControlPlane } from "./index.ts";

const API_ONLY = { controllers: false, crds: false };

describeOnOwnControlPlane("a control plane of one's own", { ...API_ONLY, audit: true }, (controlPlane) => {
  it.each(["SIGKILL", "SIGTERM"] as const)("keeps objects when its API server ends by %s", async (signal) => {
    const name = await controlPlane().createNamespace();
    await controlPlane().restartApiServer(signal);
    expect((await controlPlane().request("GET", `/api/v1/namespaces/${name}`)).status).toBe(200);
  });

  it("is away while its API server is stopped", async () => {
    await controlPlane().stopApiServer();
    await expect(controlPlane().request("GET", "/readyz")).rejects.toThrow();
    await controlPlane().startApiServer();
  });

  it("accepts no write while etcd is stopped, and keeps what was written before", async () => {
    const name = await controlPlane().createNamespace();
    await controlPlane().stopEtcd();
    const body = { metadata: { name: `${name}-late` } };
    const late = await controlPlane().request("POST", "/api/v1/namespaces?timeout=1s", { body });
    expect(late.status).toBeGreaterThanOrEqual(500);
    await controlPlane().startEtcd();
    expect((await controlPlane().request("GET", `/api/v1/namespaces/${name}`)).status).toBe(200);
  });

  it("logs each request for whoever counts them", async () => {
    const namespace = await controlPlane().createNamespace();
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    await controlPlane().request("POST", path, { body: { metadata: { name: "one" } } });
    await controlPlane().request("GET", `${path}/two`);
    const seen = await eventually(
      "both stand in the log",
      async () => (await controlPlane().auditLog()).filter((entry) => entry.requestURI.startsWith(path)),
      (entries) => entries.length === 2,
    );
    expect(seen.map(({ verb, user, resource, status }) => ({ verb, user, resource, status }))).toEqual([
      { verb: "create", user: "admin", resource: "configmaps", status: 201 },
      { verb: "get", user: "admin", resource: "configmaps", status: 404 },
    ]);
  });
});

describeOnOwnControlPlane("a control plane with controllers", { crds: false }, (controlPlane) => {
  // Its controllers look for a lost API server every half minute, at worst.
  it("goes on where it was when its API server comes back", async () => {
    const namespace = await controlPlane().createNamespace();
    await controlPlane().restartApiServer();
    const job = `/apis/batch/v1/namespaces/${namespace}/jobs`;
    const template = {
      spec: { restartPolicy: "Never", containers: [{ name: "main", image: "registry.test/job:1" }] },
    };
    await eventually(
      "the namespace has an account for pods",
      () => controlPlane().request("GET", `/api/v1/namespaces/${namespace}/serviceaccounts/default`),
      ({ status }) => status === 200,
    );
    await controlPlane().request("POST", job, { body: { metadata: { name: "run" }, spec: { template } } });
    await eventually(
      "the job succeeds",
      () => controlPlane().request("GET", `${job}/run`),
      ({ body }) => body.status?.succeeded === 1,
    );
  });
});

describeWithServers("a control plane whose process is killed", () => {
  it("ends with it, and its files go before the next starts", async () => {
    const child = spawn(process.execPath, [join(import.meta.dirname, "hold-control-plane.ts")], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    const { exited, output, says } = watchChild(child);
    await says("\n");
    const folder = output().trimEnd();
    expect(processesWith(folder)).toHaveLength(2);
    child.kill("SIGKILL");
    // A process that nobody has waited for is one that lives, for whoever looks for its pid.
    await exited();
    await eventually(
      "its servers are gone",
      () => processesWith(folder),
      (left) => left.length === 0,
    );
    await using _next = await startControlPlane(API_ONLY);
    expect(existsSync(folder)).toBe(false);
  });
});
