import fc from "fast-check";
import { expect, it } from "vitest";
import type { SecretStore, SecretValues } from "../../src/server/index.ts";

export interface SecretStoreUnderTest {
  readonly store: SecretStore;
  /** What a replica gets. */
  read(namespace: string, name: string, key: string): Promise<string | undefined>;
}

const API = { namespace: "demo", name: "api" };
const values = (entries: Record<string, string | null>): SecretValues => new Map(Object.entries(entries));
const MERGE = { replace: false };

/** What every SecretStore keeps; each test opens an empty one. */
export function secretStoreContract(open: () => Promise<SecretStoreUnderTest>): void {
  it("tells names and keys sorted, and gives values to replicas alone", async () => {
    const { store, read } = await open();
    expect(await store.write(API, values({ token: "t-1", "ca.crt": "pem" }), MERGE)).toEqual({
      item: { ...API, keys: ["ca.crt", "token"] },
      created: true,
    });
    await store.write({ ...API, name: "a.b" }, values({ k: "" }), MERGE);
    expect(await store.list("demo")).toEqual([
      { namespace: "demo", name: "a.b", keys: ["k"] },
      { ...API, keys: ["ca.crt", "token"] },
    ]);
    expect(await store.get(API)).toEqual({ ...API, keys: ["ca.crt", "token"] });
    expect(await read("demo", "api", "token")).toBe("t-1");
    expect(await read("demo", "a.b", "k")).toBe("");
    expect(await store.list("other")).toEqual([]);
  });

  it("what is not there is undefined, whatever it is called", async () => {
    const { store, read } = await open();
    await store.write(API, values({ token: "t" }), MERGE);
    expect(await store.get({ ...API, name: "none" })).toBeUndefined();
    expect(await store.delete({ ...API, name: "none" })).toBe(false);
    const places: [string, string, string][] = [
      ["demo", "api", "none"],
      ["demo", "none", "token"],
      ["none", "api", "token"],
      ["demo", "..", "api"],
      ["demo", "api", ".."],
      ["..", "demo", "api"],
      ["demo", "api/token", ""],
    ];
    for (const place of places) expect(await read(...place)).toBeUndefined();
  });

  it("a write changes the keys that it names, a replacing one removes the others", async () => {
    const { store, read } = await open();
    await store.write(API, values({ a: "1", b: "2", c: "3" }), MERGE);
    expect(await store.write(API, values({ a: "9", b: null, d: "4" }), MERGE)).toEqual({
      item: { ...API, keys: ["a", "c", "d"] },
      created: false,
    });
    expect([await read("demo", "api", "a"), await read("demo", "api", "c")]).toEqual(["9", "3"]);
    await store.write(API, values({ e: "5" }), { replace: true });
    expect(await store.get(API)).toEqual({ ...API, keys: ["e"] });
  });

  it("a deleted secret is gone with all of its keys, and can be made anew", async () => {
    const { store, read } = await open();
    await store.write(API, values({ a: "1", b: "2" }), MERGE);
    expect(await store.delete(API)).toBe(true);
    expect(await store.list("demo")).toEqual([]);
    expect(await read("demo", "api", "a")).toBeUndefined();
    expect(await store.write(API, values({ c: "3" }), MERGE)).toMatchObject({ created: true, item: { keys: ["c"] } });
  });

  it("two keys that differ only in case are refused, and nothing is written", async () => {
    const { store } = await open();
    await store.write(API, values({ token: "t" }), MERGE);
    await expect(store.write(API, values({ a: "1", Token: "x" }), MERGE)).rejects.toMatchObject({
      code: "invalid_request",
    });
    expect(await store.get(API)).toEqual({ ...API, keys: ["token"] });
    await store.write(API, values({ token: null, Token: "x" }), MERGE);
    expect(await store.get(API)).toEqual({ ...API, keys: ["Token"] });
  });

  it("writes at the same time all arrive", async () => {
    const { store } = await open();
    const keys = Array.from({ length: 12 }, (_, index) => `k${String(index).padStart(2, "0")}`);
    await Promise.all(keys.map((key) => store.write(API, values({ [key]: key }), MERGE)));
    expect(await store.get(API)).toEqual({ ...API, keys });
  });

  it.each(["../x", "a/b", "", "A", ".draft", "x".repeat(254)])("refuses %j as the name of a secret", async (name) => {
    const { store } = await open();
    await expect(store.write({ ...API, name }, values({ a: "1" }), MERGE)).rejects.toMatchObject({
      code: "invalid_request",
    });
  });

  it("any text comes out as it went in", async () => {
    const { store, read } = await open();
    const text = fc.string({ unit: "binary", maxLength: 50 }).filter((value) => !value.includes("\0"));
    await fc.assert(
      fc.asyncProperty(text, async (value) => {
        await store.write(API, values({ key: value }), MERGE);
        expect(await read("demo", "api", "key")).toBe(value);
      }),
      { numRuns: 50 },
    );
  });
}
