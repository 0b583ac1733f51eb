import { expect, it, vi } from "vitest";
import { patientStore } from "../../src/app/patient-store.ts";
import { memoryObjectStore } from "../support/memory-object-store.ts";

const KEY = "functions/demo/hello/1.zip";

function open() {
  const objects = memoryObjectStore();
  const read = vi.fn(objects.read);
  const { promise, resolve } = Promise.withResolvers<void>();
  return { objects, read, resolve, patient: patientStore({ ...objects, read }, promise) };
}

it("what the first sync stores is read when it has", async () => {
  const { objects, resolve, patient } = open();
  const reading = patient.read(KEY);
  await objects.put(KEY, Buffer.from("source"));
  resolve();
  expect(await reading).toMatchObject({ bytes: 6 });
});

it("what is there is not waited for, and later nothing is", async () => {
  const { objects, read, resolve, patient } = open();
  await objects.put(KEY, Buffer.from("source"));
  expect(await patient.read(KEY)).toMatchObject({ bytes: 6 });
  resolve();
  expect(await patient.read("functions/demo/other/1.zip")).toBeUndefined();
  read.mockClear();
  expect(await patient.read("functions/demo/other/1.zip")).toBeUndefined();
  expect(read).toHaveBeenCalledTimes(1);
});

it("whoever waits no more is not held up", async () => {
  const { patient } = open();
  const stop = new AbortController();
  const reading = patient.read(KEY, { signal: stop.signal });
  stop.abort(new Error("superseded"));
  await expect(reading).rejects.toThrow("superseded");
});
