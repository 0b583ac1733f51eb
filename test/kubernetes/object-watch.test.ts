import { describe, expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../src/controller/index.ts";
import {
  API_RESOURCES,
  type ApiObject,
  apiPath,
  listObjects,
  type ObjectWatch,
  watchObjects,
  watchResource,
} from "../../src/kubernetes/index.ts";
import { clusterClient } from "../support/cluster-store.ts";
import { eventually } from "../support/eventually.ts";
import { describeOnCluster } from "../support/kubernetes/index.ts";
import { clientOf, fails, fakeApiServer, writeKubeconfig } from "./api-server.ts";

const CONFIG_MAPS = API_RESOURCES.ConfigMap;

interface ConfigMap extends ApiObject {
  data?: Record<string, string>;
}

async function started<T extends ApiObject>(watch: ObjectWatch<T>): Promise<string[]> {
  const heard: string[] = [];
  watch.onChange(({ metadata }, before, isGone) => {
    heard.push(`${isGone ? "gone" : before ? "changed" : "new"} ${metadata.name}`);
  });
  const abort = new AbortController();
  onTestFinished(() => abort.abort());
  await watch.start(abort.signal);
  return heard;
}

describeOnCluster("watches of native objects", (cluster) => {
  it("hold what there is and hear of every change once", async () => {
    const client = clusterClient(cluster());
    const namespace = await cluster().createNamespace("watch");
    const path = apiPath(CONFIG_MAPS, { namespace });
    const labels = { "app.kubernetes.io/managed-by": "sless" };
    const create = (name: string) =>
      client.request<ConfigMap>({ method: "POST", path, body: { metadata: { name, labels } } });
    await create("before");
    const watch = watchResource<ConfigMap>(client, CONFIG_MAPS, {
      namespace,
      labelSelector: "app.kubernetes.io/managed-by=sless",
      clock: systemClock,
    });
    const heard = await started(watch);
    await client.request({ method: "POST", path, body: { metadata: { name: "foreign" } } });
    await create("after");
    await client.request({
      method: "PATCH",
      path: `${path}/after`,
      contentType: "application/merge-patch+json",
      body: { data: { a: "1" } },
    });
    await client.request({ method: "DELETE", path: `${path}/before` });
    await eventually(
      "all is heard",
      () => heard,
      ({ length }) => length === 4,
    );
    expect(heard).toEqual(["new before", "new after", "changed after", "gone before"]);
    expect(watch.get(namespace, "after")?.data).toEqual({ a: "1" });
    expect(watch.get(namespace, "after")?.metadata).not.toHaveProperty("managedFields");
    expect(Array.from(watch.all(), ({ metadata }) => metadata.name)).toEqual(["after"]);
  });

  it("take over one's own write at once, and not what is gone by then", async () => {
    const client = clusterClient(cluster());
    const namespace = await cluster().createNamespace("watch");
    const path = apiPath(CONFIG_MAPS, { namespace });
    const watch = watchResource<ConfigMap>(client, CONFIG_MAPS, { namespace, clock: systemClock });
    const heard = await started(watch);
    heard.length = 0;
    const body = { metadata: { name: "own" } };
    const own = await client.request<ConfigMap>({ method: "POST", path, body });
    watch.observe(own);
    expect(watch.get(namespace, "own")?.metadata.uid).toBe(own.metadata.uid);
    await client.request({ method: "DELETE", path: `${path}/own` });
    await eventually(
      "it is gone",
      () => watch.get(namespace, "own"),
      (object) => object === undefined,
    );
    watch.observe(own);
    expect(watch.get(namespace, "own")).toBeUndefined();
    expect(heard.filter((text) => text.endsWith("own"))).toEqual(["new own", "gone own"]);
  });

  it("end before they began when they are given up", async () => {
    const watch = watchResource(clusterClient(cluster()), CONFIG_MAPS, { clock: systemClock });
    await expect(watch.start(AbortSignal.abort(new Error("stop")))).rejects.toThrow("stop");
  });
});

describe("lists and watches of a server that is not well", () => {
  const item = (name: string, resourceVersion: string) => ({
    metadata: { name, namespace: "demo", resourceVersion, uid: name },
  });
  const page = (items: object[], next = "") =>
    JSON.stringify({ metadata: { resourceVersion: "9", continue: next }, items });
  const expired = { code: 410, reason: "Expired", message: "the provided continue parameter is too old" };

  it("a list whose second page expired is read from the beginning", async () => {
    let pages = 0;
    const server = await fakeApiServer((request, response) => {
      pages += 1;
      if (pages === 2) fails(410, expired)(request, response);
      else if (request.url?.includes("continue=")) response.end(page([item("b", "8")]));
      else response.end(page([item("a", "7")], "more"));
    });
    const client = clientOf(await writeKubeconfig(server, {}));
    const { items, resourceVersion } = await listObjects(client, CONFIG_MAPS);
    expect(items.map(({ metadata }) => metadata.name)).toEqual(["a", "b"]);
    expect(resourceVersion).toBe("9");
    expect(pages).toBe(4);
  });

  it("a list that expires again and again is given up", async () => {
    const server = await fakeApiServer((request, response) => {
      if (request.url?.includes("continue=")) fails(410, expired)(request, response);
      else response.end(page([item("a", "7")], "more"));
    });
    await expect(listObjects(clientOf(await writeKubeconfig(server, {})), CONFIG_MAPS)).rejects.toMatchObject({
      status: 410,
    });
  });

  const lines: Record<string, { line: object | string; code: string }> = {
    "410 in the stream": { line: { type: "ERROR", object: { code: 410, metadata: {} } }, code: "conflict" },
    "a version from the future": {
      line: {
        type: "ERROR",
        object: { code: 504, metadata: {}, details: { causes: [{ reason: "ResourceVersionTooLarge" }] } },
      },
      code: "conflict",
    },
    garbage: { line: '{"data":{"password":"hunter2"', code: "cluster_unavailable" },
    "no object": { line: { type: "ADDED" }, code: "cluster_unavailable" },
  };
  it.each(Object.entries(lines))("a watch that brings %s ends with what to do", async (_name, { line, code }) => {
    const text = typeof line === "string" ? line : JSON.stringify(line);
    const server = await fakeApiServer((_request, response) => void response.end(`${text}\n`));
    const client = clientOf(await writeKubeconfig(server, {}));
    const { signal } = new AbortController();
    const events = watchObjects(client, CONFIG_MAPS, { from: "1", signal });
    const error = await events.next().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code });
    expect((error as Error).message).not.toContain("hunter2");
  });

  it("an event that comes in many pieces is one event", async () => {
    const event = `${JSON.stringify({ type: "ADDED", object: { ...item("ü", "5"), data: { text: "ä".repeat(3_000) } } })}\n`;
    const server = await fakeApiServer(async (_request, response) => {
      const bytes = Buffer.from(`\n${event}${event}`);
      for (let at = 0; at < bytes.length; at += 101) {
        response.write(bytes.subarray(at, at + 101));
        await new Promise((resolve) => setImmediate(resolve));
      }
      response.end();
    });
    const client = clientOf(await writeKubeconfig(server, {}));
    const names: string[] = [];
    for await (const told of watchObjects<ConfigMap>(client, CONFIG_MAPS, {
      from: "1",
      signal: new AbortController().signal,
    }))
      if (told.type === "ADDED") names.push(`${told.object.metadata.name} ${told.object.data?.text?.length}`);
    expect(names).toEqual(["ü 3000", "ü 3000"]);
  });

  it("a watch goes on after every break, and a failing listener keeps nobody from hearing", async () => {
    let watches = 0;
    const server = await fakeApiServer((request, response) => {
      if (!request.url?.includes("watch=true")) return void response.end(page([item("a", "7")]));
      watches += 1;
      response.write(`${JSON.stringify({ type: "ADDED", object: item(`w${watches}`, String(10 + watches)) })}\n`, () =>
        request.socket.destroy(),
      );
    });
    const client = clientOf(await writeKubeconfig(server, {}));
    const watch = watchResource(client, CONFIG_MAPS, { clock: systemClock });
    watch.onChange(() => {
      throw new Error("a listener's own fault");
    });
    const heard = await started(watch);
    await eventually(
      "three watches",
      () => heard.slice(0, 4),
      ({ length }) => length === 4,
    );
    expect(heard.slice(0, 4)).toEqual(["new a", "new w1", "new w2", "new w3"]);
    const positions = server.asked.flatMap(({ url = "" }) => /resourceVersion=(\d+)/.exec(url)?.[1] ?? []);
    expect(positions.slice(0, 3)).toEqual(["9", "11", "12"]);
  });
});
