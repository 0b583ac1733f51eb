import fc from "fast-check";
import { expect, it, vi } from "vitest";
import { SlessError } from "../../src/errors/index.ts";
import type { ObjectStore } from "../../src/storage/index.ts";
import { allOf } from "../support/all-of.ts";

/** What every ObjectStore keeps; each test opens an empty one. */
export function objectStoreContract(open: () => Promise<ObjectStore>): void {
  it("gives back the bytes that were put", async () => {
    const store = await open();
    expect(await store.put("functions/demo/hello/1.zip", bytes("one"))).toBe("stored");
    expect(textOf(await store.get("functions/demo/hello/1.zip"))).toBe("one");
    expect(await store.has("functions/demo/hello/1.zip")).toBe(true);
  });

  it("keeps the first bytes when a key is put twice", async () => {
    const store = await open();
    expect(await store.put("a", bytes("1"))).toBe("stored");
    expect(await store.put("a", bytes("2"))).toBe("present");
    expect(textOf(await store.get("a"))).toBe("1");
  });

  it("stores once when many put one key at the same time", async () => {
    const store = await open();
    const outcomes = await Promise.all(Array.from({ length: 8 }, (_, i) => store.put("a/b", bytes(String(i)))));
    expect(outcomes.filter((outcome) => outcome === "stored")).toHaveLength(1);
    expect(textOf(await store.get("a/b"))).toBe(String(outcomes.indexOf("stored")));
  });

  it("keeps empty and large bodies as they are", async () => {
    const store = await open();
    const large = new Uint8Array(3 * 1024 * 1024).map((_, i) => i % 251);
    await store.put("empty", new Uint8Array());
    await store.put("large", large);
    expect(await store.get("empty")).toHaveLength(0);
    expect(Buffer.compare((await store.get("large"))!, large)).toBe(0);
  });

  it("puts together a body that comes in pieces", async () => {
    const store = await open();
    expect(await store.put("a/b", pieces("one ", "", "two"))).toBe("stored");
    expect(textOf(await store.get("a/b"))).toBe("one two");
    expect(await store.put("none", pieces())).toBe("stored");
    expect(await store.get("none")).toHaveLength(0);
  });

  it("does not read a body whose key is there", async () => {
    const store = await open();
    await store.put("a", bytes("1"));
    const unread = vi.fn(() => pieces("2")[Symbol.asyncIterator]());
    expect(await store.put("a", { [Symbol.asyncIterator]: unread })).toBe("present");
    expect(unread).not.toHaveBeenCalled();
    expect(textOf(await store.get("a"))).toBe("1");
  });

  it("stores nothing of a body that fails on the way, and throws the body's own error", async () => {
    const store = await open();
    async function* failing() {
      yield bytes("half");
      throw new SlessError("archive_invalid", { cause: "it ends too early" });
    }
    await expect(store.put("a", failing())).rejects.toMatchObject({ code: "archive_invalid" });
    expect(await store.has("a")).toBe(false);
    expect(await keysOf(store, "")).toEqual([]);
    expect(await store.put("a", pieces("whole"))).toBe("stored");
    expect(textOf(await store.get("a"))).toBe("whole");
  });

  it("stores once when many put pieces at one key, though the first of them fail", async () => {
    const store = await open();
    async function* body(index: number) {
      yield bytes("part ");
      if (index < 2) throw new Error(`body ${index} failed`);
      yield bytes(String(index));
    }
    const puts = Array.from({ length: 6 }, (_, index) => store.put("a", body(index)));
    const outcomes = await Promise.allSettled(puts);
    const stored = outcomes.findIndex((one) => one.status === "fulfilled" && one.value === "stored");
    expect(outcomes.filter((one) => one.status === "fulfilled" && one.value === "stored")).toHaveLength(1);
    expect(textOf(await store.get("a"))).toBe(`part ${stored}`);
  });

  it("streams what is stored, with its size, in pieces of which none is large", async () => {
    const store = await open();
    const large = new Uint8Array(3 * 1024 * 1024).map((_, i) => i % 251);
    for (const [key, body] of [
      ["large", large],
      ["small", bytes("x")],
      ["empty", new Uint8Array()],
    ] as const) {
      await store.put(key, body);
      const reading = (await store.read(key))!;
      expect(reading.bytes).toBe(body.byteLength);
      const read = await allOf(reading.body);
      for (const piece of read) expect(piece.byteLength).toBeLessThanOrEqual(1024 * 1024);
      expect(Buffer.compare(Buffer.concat(read), body)).toBe(0);
    }
  });

  it("streams many at the same time, and each as it is", async () => {
    const store = await open();
    const bodies = Array.from({ length: 12 }, (_, n) => new Uint8Array(200_000 + n).map((_, i) => (i * (n + 1)) % 253));
    await Promise.all(bodies.map((body, n) => store.put(`a/${n}`, body)));
    const read = await Promise.all(
      bodies.map(async (_, n) => Buffer.concat(await allOf((await store.read(`a/${n}`))!.body))),
    );
    for (const [n, body] of bodies.entries()) expect(Buffer.compare(read[n]!, body)).toBe(0);
  });

  it("stops reading when nobody reads on, and when it is aborted, with the reason of that", async () => {
    const store = await open();
    await store.put("a", new Uint8Array(8 * 1024 * 1024).fill(7));
    for await (const piece of (await store.read("a"))!.body) {
      expect(piece.byteLength).toBeGreaterThan(0);
      break;
    }
    const stop = new AbortController();
    const { body } = (await store.read("a", { signal: stop.signal }))!;
    const reading = (async () => {
      for await (const _ of body) stop.abort(new Error("superseded"));
    })();
    await expect(reading).rejects.toThrow("superseded");
    await expect(store.read("a", { signal: stop.signal })).rejects.toThrow("superseded");
    expect(await store.get("a")).toHaveLength(8 * 1024 * 1024);
  });

  it("knows nothing of keys that were not put, also of a key's own folder", async () => {
    const store = await open();
    await store.put("a/b/c", bytes("x"));
    for (const key of ["missing", "a/missing", "a/b", "a/b/c/d"]) {
      expect(await store.get(key)).toBeUndefined();
      expect(await store.read(key)).toBeUndefined();
      expect(await store.has(key)).toBe(false);
    }
  });

  it("lists the keys of a prefix of text, sorted", async () => {
    const store = await open();
    for (const key of ["f/a/2", "f/a/1", "f/a-b/1", "f/ab/1", "g/1"]) await store.put(key, bytes(key));
    expect(await keysOf(store, "f/")).toEqual(["f/a-b/1", "f/a/1", "f/a/2", "f/ab/1"]);
    expect(await keysOf(store, "f/a")).toEqual(["f/a-b/1", "f/a/1", "f/a/2", "f/ab/1"]);
    expect(await keysOf(store, "f/a/")).toEqual(["f/a/1", "f/a/2"]);
    expect(await keysOf(store, "")).toHaveLength(5);
    expect(await keysOf(store, "h/")).toEqual([]);
  });

  it("lists sizes and times too", async () => {
    const store = await open();
    const begun = Date.now();
    for (const key of ["f/b", "f/a", "g/1"]) await store.put(key, bytes(key.repeat(100)));
    const entries = await allOf(store.entries("f/"));
    expect(entries.map(({ key, bytes: size }) => [key, size])).toEqual([
      ["f/a", 300],
      ["f/b", 300],
    ]);
    // Servers round to seconds.
    for (const { storedAt } of entries) {
      expect(storedAt.getTime()).toBeGreaterThan(begun - 1_000);
      expect(storedAt.getTime()).toBeLessThan(Date.now() + 1_000);
    }
    await store.delete("f/a");
    expect((await allOf(store.entries(""))).map(({ key }) => key)).toEqual(["f/b", "g/1"]);
  });

  it("lists in the order of strings whatever the keys are", async () => {
    const part = fc.stringMatching(/^[a-c.-]{1,3}$/).filter((text) => text !== "." && text !== "..");
    const keys = fc.uniqueArray(
      fc.tuple(part, part).map((parts) => `${parts.join("/")}/leaf`),
      { maxLength: 8 },
    );
    await fc.assert(
      fc.asyncProperty(keys, async (names) => {
        const store = await open();
        for (const name of names) await store.put(name, bytes(name));
        expect(await keysOf(store, "")).toEqual([...names].sort());
      }),
      { numRuns: 15 },
    );
  });

  it("forgets a deleted key, and stores it anew", async () => {
    const store = await open();
    await store.put("a/b/c", bytes("1"));
    await store.delete("a/b/c");
    await store.delete("a/b/c");
    expect(await store.has("a/b/c")).toBe(false);
    expect(await store.put("a/b/c", bytes("2"))).toBe("stored");
    expect(textOf(await store.get("a/b/c"))).toBe("2");
  });

  it.each(["", "/a", "a/", "a//b", ".", "..", "a/../b", "../a", "a/.", "a\\b", "a\0b", "a\nb"])(
    "refuses %j as a key",
    async (key) => {
      const store = await open();
      const uses = [
        () => store.put(key, bytes("x")),
        () => store.get(key),
        () => store.read(key),
        () => store.has(key),
      ];
      for (const use of uses) {
        await expect(use()).rejects.toMatchObject({ code: "invalid_request" });
      }
      await expect(store.delete(key)).rejects.toMatchObject({ code: "invalid_request" });
    },
  );
}

async function keysOf(store: ObjectStore, prefix: string): Promise<string[]> {
  return allOf(store.list(prefix));
}

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

async function* pieces(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield bytes(text);
}

function textOf(body: Uint8Array | undefined): string | undefined {
  return body && new TextDecoder().decode(body);
}
