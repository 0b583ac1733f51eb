import fc from "fast-check";
import { expect, it, vi } from "vitest";
import { SlessError } from "../../src/errors/index.ts";
import { mendObject } from "../../src/storage/index.ts";
import { memoryObjectStore } from "../support/memory-object-store.ts";

const KEY = "functions/demo/hello/1.zip";

async function* pieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += size) yield bytes.subarray(at, at + size);
}

it("whatever a key held, it holds the bytes afterwards, and they are written only when they were not there", async () => {
  const bytes = fc.uint8Array({ maxLength: 40 });
  const size = fc.integer({ min: 1, max: 9 });
  await fc.assert(
    fc.asyncProperty(fc.option(bytes), bytes, size, size, async (before, wanted, stored, packed) => {
      const memory = memoryObjectStore();
      if (before) await memory.put(KEY, before);
      const put = vi.fn(memory.put);
      const read = async () => {
        const found = await memory.get(KEY);
        return found && { bytes: found.byteLength, body: pieces(found, stored) };
      };
      const isSound = before !== null && Buffer.compare(before, wanted) === 0;
      const found = await mendObject({ ...memory, put, read }, KEY, () => pieces(wanted, packed));
      expect(found).toBe(before === null ? "missing" : isSound ? "sound" : "damaged");
      expect(put).toHaveBeenCalledTimes(isSound ? 0 : 1);
      expect(Buffer.compare((await memory.get(KEY))!, wanted)).toBe(0);
    }),
  );
});

it.each([
  ["object_damaged", true],
  ["storage_unavailable", false],
] as const)("an object whose reading ends with %s is replaced: %s", async (code, isReplaced) => {
  const memory = memoryObjectStore();
  await memory.put(KEY, Buffer.from("before"));
  async function* body() {
    yield Buffer.from("be");
    throw new SlessError(code, { what: "Object", cause: "a test" });
  }
  const objects = { ...memory, read: async () => ({ bytes: 6, body: body() }) };
  const mended = mendObject(objects, KEY, () => pieces(Buffer.from("before"), 2)).catch(
    (error: SlessError) => error.code,
  );
  expect(await mended).toBe(isReplaced ? "damaged" : "storage_unavailable");
});

it("a body that fails leaves what was there", async () => {
  const memory = memoryObjectStore();
  await memory.put(KEY, Buffer.from("before"));
  async function* failing() {
    yield Buffer.from("be");
    throw new Error("a blob is gone");
  }
  await expect(mendObject(memory, KEY, failing)).rejects.toThrow("a blob is gone");
  expect(await memory.has(KEY)).toBe(true);
});
