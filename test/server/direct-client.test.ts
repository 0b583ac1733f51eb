import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import { createClient, type SlessClient } from "../../src/server/client.ts";
import { directClient } from "../../src/server/direct-client.ts";
import { fakePlatform } from "../support/fake-platform.ts";
import { functionIntent, serverFixture } from "./server-fixture.ts";

const OF = { namespace: "default" };

/** The same objects, through the API and without it. */
async function bothClients(): Promise<SlessClient[]> {
  const { url, store, platform } = await serverFixture({ events: { list: () => [] } });
  for (const name of ["hello", "bye"]) await store.create(functionIntent(name), { owner: "api" });
  await store.create(
    { kind: "Trigger", metadata: { ...OF, name: "t" }, spec: { type: "http", functionRef: "hello" } },
    { owner: "api" },
  );
  const close = async () => undefined;
  return [createClient({ endpoint: url }), directClient({ store, platform, events: async () => [], close })];
}

it.each<[string, (client: SlessClient) => Promise<unknown>]>([
  ["lists", (client) => client.list("functions", OF)],
  ["lists of whole objects", (client) => client.listObjects("triggers", OF)],
  ["an empty list", (client) => client.list("jobs", OF)],
  ["an object", (client) => client.get("functions", "hello", OF)],
  ["a whole object", (client) => client.getObject("functions", "hello", OF)],
  ["events", (client) => client.events(OF)],
  ["logs", async (client) => text(client.logs("functions", "hello", OF))],
  [
    "what is not there",
    (client) => client.get("functions", "nobody", OF).catch(({ code, message }) => [code, message]),
  ],
])("%s are the same as through the API", async (_name, read) => {
  const [api, direct] = await bothClients();
  const seen = JSON.parse(JSON.stringify(await read(direct as SlessClient)));
  expect(seen).toEqual(await read(api as SlessClient));
  await api?.close();
});

it("nothing is written without the API", async () => {
  const close = async () => undefined;
  const store = { get: async () => undefined, list: async () => ({ items: [], resourceVersion: "1" }) };
  const client = directClient({ store, platform: fakePlatform(), events: async () => [], close });
  for (const write of [
    client.create("functions", {}, OF),
    client.delete("functions", "hello", OF),
    client.invoke("functions", "hello", OF),
    client.writeSecret("s", {}, { ...OF, replace: true }),
  ])
    await expect(write).rejects.toMatchObject({ code: "usage_invalid" });
});
