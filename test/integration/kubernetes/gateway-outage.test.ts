import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import pino from "pino";
import { expect, it, onTestFinished } from "vitest";
import { kubernetesAuthority } from "../../../src/auth/kubernetes/index.ts";
import { systemClock } from "../../../src/controller/index.ts";
import { createEndpointTable, createGateway, createInternalServer, gatewayClient } from "../../../src/gateway/index.ts";
import { createObjectInformers } from "../../../src/reconcilers/index.ts";
import type { ResourceStore } from "../../../src/resources/index.ts";
import { clusterStore } from "../../support/cluster-store.ts";
import { eventually } from "../../support/eventually.ts";
import { fakePlatform } from "../../support/fake-platform.ts";
import { httpServer } from "../../support/http-server.ts";
import { type ControlPlane, describeOnOwnControlPlane } from "../../support/kubernetes/index.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const AUDIENCE = "sless-gateway";
const log = pino({ level: "silent" });

/** A function with an http trigger, and a gateway that knows it from watches alone. */
async function openGateway(cluster: ControlPlane) {
  const { store, client } = clusterStore(cluster);
  const namespace = await cluster.createNamespace("outage");
  const metadata = { namespace, name: "hello" };
  await store.create({ kind: "Function", metadata, spec: { runtime: "python3.11" } }, { owner: "api" });
  const spec = { type: "http", functionRef: "hello" } as const;
  await store.create({ kind: "Trigger", metadata, spec }, { owner: "api" });

  const informers = createObjectInformers(store, { debug: () => {}, warn: () => {}, error: () => {} });
  const watching = new AbortController();
  await informers.start(watching.signal);
  const platform = fakePlatform();
  const workload = { kind: "Function", ...metadata } as const;
  const { origin } = await httpServer((_req, res) => res.end("served"));
  platform.serve(workload, [{ replica: "hello-0", origin }]);
  const gateway = createGateway({ endpoints: createEndpointTable(informers), platform, clock: systemClock, log });
  const front = await httpServer((req, res) => gateway.handle(req, res));

  const authority = kubernetesAuthority({ client, clock: systemClock, audiences: [AUDIENCE], staleMs: 600_000 });
  const callers = [`system:serviceaccount:${namespace}:controller`];
  const internal = createInternalServer({ gateway, authenticate: authority.authenticate, callers, log });
  const { url } = await internal.listen({ host: "127.0.0.1", port: 0 });
  onTestFinished(async () => {
    watching.abort();
    await gateway.close();
    await internal.close(0);
  });
  return { store, namespace, workload, internalUrl: url, publicUrl: `${front.origin}/fn/${namespace}/hello` };
}

async function tokenOf(cluster: ControlPlane, namespace: string, name: string, audiences?: string[]): Promise<string> {
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts`;
  await cluster.request("POST", path, { body: { metadata: { name } } });
  return cluster.tokenFor({ serviceAccount: name, namespace }, audiences ? { audiences } : {});
}

async function clientWith(url: string, token: string) {
  const tokenFile = join(await temporaryFolder(), "token");
  await writeFile(tokenFile, token);
  const client = gatewayClient({ url, tokenFile, clock: systemClock });
  onTestFinished(() => client.close());
  return client;
}

const setEnabled = (store: ResourceStore, namespace: string, enabled: boolean) =>
  store.patch("Trigger", { namespace, name: "hello" }, { spec: { enabled } }, { owner: "api" });

describeOnOwnControlPlane("a gateway on a cluster", { controllers: false }, (controlPlane) => {
  it("lets in by its internal port whom it should, with a token that is meant for it", async () => {
    const cluster = controlPlane();
    const { namespace, workload, internalUrl } = await openGateway(cluster);
    const call = async (name: string, audiences?: string[]) => {
      const client = await clientWith(internalUrl, await tokenOf(cluster, namespace, name, audiences));
      const answer = client.invoke(workload, { trigger: "cron" });
      return answer.then(({ body }) => text(body)).catch(({ message }: Error) => message);
    };
    expect(await call("controller", [AUDIENCE])).toBe("served");
    // The token that every pod of the account has is meant for the API server.
    expect(await call("controller")).toContain("was not let in");
    expect(await call("controller", ["other"])).toContain("was not let in");
    expect(await call("tenant", [AUDIENCE])).toContain("is not yours");
  });

  it.each<[string, (cluster: ControlPlane) => Promise<void>, (cluster: ControlPlane) => Promise<void>]>([
    ["the API server", (cluster) => cluster.stopApiServer(), (cluster) => cluster.startApiServer()],
    ["etcd", (cluster) => cluster.stopEtcd(), (cluster) => cluster.startEtcd()],
  ])("goes on while %s is away, and follows again when it is back", async (_name, stop, start) => {
    const cluster = controlPlane();
    const { store, namespace, workload, internalUrl, publicUrl } = await openGateway(cluster);
    const client = await clientWith(internalUrl, await tokenOf(cluster, namespace, "controller", [AUDIENCE]));
    const stranger = await clientWith(internalUrl, await tokenOf(cluster, namespace, "stranger", [AUDIENCE]));
    const callInside = async () => text((await client.invoke(workload, { trigger: "cron" })).body);
    const callOutside = async () => (await fetch(publicUrl)).status;
    expect([await callInside(), await callOutside()]).toEqual(["served", 200]);

    await stop(cluster);
    const outside = await Promise.all(Array.from({ length: 200 }, callOutside));
    expect(new Set(outside)).toEqual(new Set([200]));
    expect(await callInside()).toBe("served");
    // Nobody can tell who that is: not let in.
    await expect(stranger.invoke(workload, { trigger: "cron" })).rejects.toMatchObject({ code: "gateway_unreachable" });

    await start(cluster);
    await setEnabled(store, namespace, false);
    await eventually("the disabled trigger is seen", callOutside, (status) => status === 404);
    await setEnabled(store, namespace, true);
    await eventually("and the enabled one", callOutside, (status) => status === 200);
  });
});
