import { expect, it } from "vitest";
import { SlessError } from "../../src/errors/index.ts";
import { functionIntent, serverFixture } from "./server-fixture.ts";

const HISTORY = "/v1/namespaces/default/functions/hello/history";
const NEW = { number: 2, sourceDigest: "b".repeat(64), imageRef: "image:b", servedAt: "2026-01-02T00:00:00Z" };
const OLD = {
  number: 1,
  sourceDigest: "a".repeat(64),
  imageRef: "image:a",
  revision: `main@sha1:${"c".repeat(40)}`,
  path: "functions/hello/function.yaml",
  servedAt: "2026-01-01T00:00:00Z",
};

async function served(options: Parameters<typeof serverFixture>[0] = {}) {
  const fixture = await serverFixture(options);
  const object = await fixture.store.create(functionIntent("hello"), { owner: "api" });
  await fixture.store.updateStatus(object, { history: [NEW, OLD] });
  return fixture;
}

it("the history tells which sources and images are still there", async () => {
  const has = async (imageRef: string) => imageRef === "image:b";
  const { objects, json } = await served({ builder: { has, async *logs() {} } });
  await objects.put(`functions/default/hello/${OLD.sourceDigest}.zip`, new Uint8Array(1));
  const { status, body } = await json(HISTORY);
  expect(status).toBe(200);
  expect(body).toEqual({
    items: [
      {
        number: 2,
        source_digest: NEW.sourceDigest,
        image_ref: "image:b",
        served_at: NEW.servedAt,
        source_present: false,
        image_present: true,
      },
      {
        number: 1,
        source_digest: OLD.sourceDigest,
        image_ref: "image:a",
        revision: OLD.revision,
        path: OLD.path,
        served_at: OLD.servedAt,
        source_present: true,
        image_present: false,
      },
    ],
  });
});

it("a registry that does not answer hides nothing of the history", async () => {
  const has = () => Promise.reject(new SlessError("storage_unavailable", { what: "it", cause: "no" }));
  const { json } = await served({ builder: { has, async *logs() {} } });
  const { items } = (await json(HISTORY)).body as { items: object[] };
  expect(items[0]).not.toHaveProperty("image_present");
  expect(items).toHaveLength(2);
});

it("the object itself tells its history, and may be sent back with it", async () => {
  const { json, url } = await served();
  const { body } = await json("/v1/namespaces/default/functions/hello");
  expect((body as unknown as { history: object[] }).history.map((one) => "source_present" in one)).toEqual([
    false,
    false,
  ]);
  const answer = await fetch(`${url}/v1/namespaces/default/functions/hello`, {
    method: "PUT",
    body: JSON.stringify(body),
    headers: { "content-type": "application/json" },
  });
  expect(answer.status).toBe(200);
});

it("what never served has an empty history, and what does not exist has none", async () => {
  const { store, json } = await serverFixture();
  await store.create(functionIntent("hello"), { owner: "api" });
  expect((await json(HISTORY)).body).toEqual({ items: [] });
  expect((await json("/v1/namespaces/default/functions/other/history")).status).toBe(404);
  expect((await json("/v1/namespaces/default/jobs/hello/history")).status).toBe(404);
});
