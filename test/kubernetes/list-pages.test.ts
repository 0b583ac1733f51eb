import { expect, it } from "vitest";
import { API_RESOURCES, listObjects, listPage } from "../../src/kubernetes/index.ts";
import { clientOf, fakeApiServer, writeKubeconfig } from "./api-server.ts";

const MIB = 1024 * 1024;

/** An API server with so many objects of that size. */
async function serverOf(count: number, bytes: number) {
  const padding = "x".repeat(bytes);
  const limits: number[] = [];
  const server = await fakeApiServer((request, response) => {
    const query = new URL(request.url ?? "", "https://server").searchParams;
    const limit = Number(query.get("limit"));
    const from = Number(query.get("continue") ?? 0);
    limits.push(limit);
    const names = Array.from({ length: Math.min(limit, count - from) }, (_, index) => `n${from + index}`);
    const more = from + limit < count ? String(from + limit) : undefined;
    response.setHeader("content-type", "application/json");
    response.write(`{"metadata":${JSON.stringify({ resourceVersion: "7", continue: more })},"items":[`);
    names.forEach((name, index) => {
      const item = { metadata: { name, annotations: { padding } } };
      response.write(`${index === 0 ? "" : ","}${JSON.stringify(item)}`);
    });
    response.end("]}");
  });
  return { limits, client: clientOf(await writeKubeconfig(server, { token: "t" })) };
}

const namesOf = (items: readonly { metadata: { name: string } }[]) => items.map(({ metadata }) => metadata.name);

it("objects that are large together are read in smaller pages, each once", async () => {
  const { client, limits } = await serverOf(70, MIB);
  const { items, resourceVersion } = await listObjects(client, API_RESOURCES.Secret);
  expect(namesOf(items)).toEqual(Array.from({ length: 70 }, (_, index) => `n${index}`));
  expect(resourceVersion).toBe("7");
  expect(limits).toEqual([500, 125, 31, 31, 31]);
});

it("small ones are read five hundred at a time", async () => {
  const { client, limits } = await serverOf(1_001, 10);
  expect(namesOf((await listObjects(client, API_RESOURCES.Secret)).items)).toHaveLength(1_001);
  expect(limits).toEqual([500, 500, 500]);
});

it("an object that is too large by itself is a fault, not a list without it", async () => {
  const { client } = await serverOf(1, 33 * MIB);
  await expect(listObjects(client, API_RESOURCES.Secret)).rejects.toMatchObject({ code: "cluster_unavailable" });
});

it("a page of objects that are large together is short and says where it goes on", async () => {
  const { client, limits } = await serverOf(70, MIB);
  const page = await listPage(client, API_RESOURCES.Secret, { namespace: "default", limit: 70 });
  expect(namesOf(page.items)).toEqual(Array.from({ length: 17 }, (_, index) => `n${index}`));
  expect(page.next).toBe("17");
  expect(limits).toEqual([70, 17]);
});

it("a page whose list is too old to go on goes on by names, as the server offers", async () => {
  const asked: (string | null)[] = [];
  const server = await fakeApiServer((request, response) => {
    const token = new URL(request.url ?? "", "https://server").searchParams.get("continue");
    asked.push(token);
    response.setHeader("content-type", "application/json");
    if (token === "by-name")
      return response.end('{"metadata":{"resourceVersion":"9"},"items":[{"metadata":{"name":"b"}}]}');
    response.statusCode = 410;
    response.end('{"kind":"Status","code":410,"reason":"Expired","metadata":{"continue":"by-name"}}');
  });
  const client = clientOf(await writeKubeconfig(server, { token: "t" }));
  const page = await listPage(client, API_RESOURCES.Secret, { namespace: "default", limit: 5, token: "old" });
  expect(page).toMatchObject({ items: [{ metadata: { name: "b" } }] });
  expect(page.next).toBeUndefined();
  expect(asked).toEqual(["old", "by-name"]);
});
