import { expect, it } from "vitest";
import { LISTED_MAX_BYTES } from "../../src/platform/truncate-message.ts";
import { serverFixture } from "./server-fixture.ts";

const JOBS = "/v1/namespaces/default/jobs";

async function jobsWith(results: Readonly<Record<string, string>>) {
  const fixture = await serverFixture();
  for (const [name, message] of Object.entries(results)) {
    const intent = {
      kind: "FunctionJob",
      metadata: { name, namespace: "default" },
      spec: { functionRef: "f" },
    } as const;
    const job = await fixture.store.create(intent, { owner: "api" });
    await fixture.store.updateStatus(job, { phase: "Succeeded", message });
  }
  return fixture;
}

const LARGE = `"${"é".repeat(20_000)}"`;
const CUT_BEFORE = `${"x".repeat(60_000)}… (truncated, 999999 bytes in all; see the log)`;

it("a list of jobs holds the beginnings of their results and says so, a job itself its whole result", async () => {
  const { json } = await jobsWith({ large: LARGE, small: '{"ok":true}', cut: CUT_BEFORE });
  const { items } = (await json(JOBS)).body as { items: { name: string; message: string }[] };
  const [cut, large, small] = items;
  expect(small).toMatchObject({ message: '{"ok":true}' });
  expect(small).not.toHaveProperty("message_truncated");
  expect(large).toMatchObject({ message_truncated: true });
  expect(large!.message).toMatch(/^"é+… \(truncated, 40002 bytes in all; get the job itself for more\)$/);
  expect(cut!.message).toMatch(/^x+… \(truncated, 999999 bytes in all; get the job itself for more\)$/);
  for (const { message } of items) expect(Buffer.byteLength(message)).toBeLessThanOrEqual(LISTED_MAX_BYTES);
  const single = (await json(`${JOBS}/large`)).body;
  expect(single).toMatchObject({ message: LARGE });
  expect(single).not.toHaveProperty("message_truncated");
});

it("whole objects in a list are told the same way", async () => {
  const { json } = await jobsWith({ large: LARGE, small: "1" });
  const { items } = (await json(`${JOBS}?output=object`)).body as { items: { status: { message: string } }[] };
  expect(items[0]).toMatchObject({ status: { phase: "Succeeded", messageTruncated: true } });
  expect(Buffer.byteLength(items[0]!.status.message)).toBeLessThanOrEqual(LISTED_MAX_BYTES);
  expect(items[1]!.status).toEqual({ phase: "Succeeded", message: "1" });
  expect((await json(`${JOBS}/large?output=object`)).body).toMatchObject({ status: { message: LARGE } });
});

it("what a list told of a job may be sent back", async () => {
  const { json } = await jobsWith({ large: LARGE });
  const [item] = (await json(JOBS)).body.items as object[];
  const body = JSON.stringify({ ...item, run_id: 1 });
  const init = { method: "PUT", body, headers: { "content-type": "application/json" } };
  expect(await json(`${JOBS}/large`, init)).toMatchObject({ status: 200, body: { run_id: 1, message: LARGE } });
});

it("a page of large objects is short, and the pages together hold them all", async () => {
  const { store, json } = await serverFixture();
  const eventJSON = JSON.stringify("e".repeat(250_000));
  const names = Array.from({ length: 40 }, (_, index) => `job-${String(index).padStart(2, "0")}`);
  for (const name of names) {
    const metadata = { name, namespace: "default" };
    await store.create({ kind: "FunctionJob", metadata, spec: { functionRef: "f", eventJSON } }, { owner: "api" });
  }
  const found: string[] = [];
  const sizes: number[] = [];
  let next: unknown = "";
  while (next !== undefined) {
    const { body } = await json(next === "" ? JOBS : `${JOBS}?continue=${next}`);
    found.push(...(body.items as { name: string }[]).map(({ name }) => name));
    sizes.push(body.items.length);
    next = body.next;
  }
  expect(found).toEqual(names);
  expect(sizes).toEqual([16, 16, 8]);
});
