import { expect, it } from "vitest";
import { noteMovedSources } from "../../src/app/moved-sources.ts";
import { memoryObjectStore } from "../support/memory-object-store.ts";
import { memoryStore } from "../support/memory-store.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const BUCKET = {
  bucket: "b",
  endpoint: "http://s3",
  region: "us-east-1",
  credentials: undefined,
  forcePathStyle: true,
};

async function data() {
  const store = await memoryStore();
  const folder = await temporaryFolder();
  const objects = memoryObjectStore();
  const make = (name: string, owner?: string) =>
    store.create(
      {
        kind: "Function",
        metadata: {
          name,
          namespace: "default",
          annotations: owner ? { "sless.kube5s.ru/owner": `${owner}/Function/default/${name}` } : {},
        },
        spec: { runtime: "python3.11", s3Key: `functions/default/${name}/1.zip` },
      },
      { owner: "api" },
    );
  async function start(s3: typeof BUCKET | undefined): Promise<string[]> {
    const told: string[] = [];
    await noteMovedSources({ data: folder, s3, store, objects, notice: (message) => told.push(message) });
    return told;
  }
  return { make, start, objects };
}

it("sources of repositories that lie elsewhere now are told once, with what becomes of them", async () => {
  const { make, start } = await data();
  await make("followed", "2f0b9c1e-6a53-4d0a-9d0b-3b8f8a3b7c11");
  expect(await start(undefined)).toEqual([]);
  expect(await start(BUCKET)).toEqual([
    "Sources are in the bucket b at http://s3 now, before in the data folder. The first sync stores those of repositories anew.",
  ]);
  expect(await start(BUCKET)).toEqual([]);
  expect(await start(undefined)).toHaveLength(1);
});

it("uploads that are not there are told at each start until they are", async () => {
  const { make, start, objects } = await data();
  await make("uploaded");
  for (let again = 0; again < 2; again += 1)
    expect(await start(BUCKET)).toEqual([expect.stringContaining("Function/default/uploaded came by upload")]);
  await objects.put("functions/default/uploaded/1.zip", new Uint8Array());
  expect(await start(BUCKET)).toEqual([]);
});

it("where nothing has a source nothing is told", async () => {
  const { start } = await data();
  expect(await start(BUCKET)).toEqual([]);
});
