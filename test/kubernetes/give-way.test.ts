import { describe, expect, it } from "vitest";
import { giveWay } from "../../src/kubernetes/give-way.ts";

/** Works that are under way until they are ended, by name. */
function works() {
  const ways = giveWay();
  const running = new Map<string, () => void>();
  const work = (name: string) => () =>
    new Promise<void>((resolve) => {
      running.set(name, () => {
        running.delete(name);
        resolve();
      });
    });
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  return {
    urgent: (...names: string[]) => names.map((name) => ways.urgent(work(name))),
    yielding: (name: string, signal?: AbortSignal) => ways.yielding(work(name), signal),
    async end(...names: string[]) {
      for (const name of names) running.get(name)!();
      await settled();
    },
    async running() {
      await settled();
      return [...running.keys()].sort().join(" ");
    },
  };
}

describe("giving way", () => {
  it("nothing waits while little is urgent", async () => {
    const { urgent, yielding, running } = works();
    urgent("a", "b", "c", "d");
    for (const name of ["x", "y", "z"]) void yielding(name);
    expect(await running()).toBe("a b c d x y z");
  });

  it("while much is urgent one goes on at a time, and the urgent never waits", async () => {
    const { urgent, yielding, running, end } = works();
    urgent("a", "b", "c", "d", "e");
    for (const name of ["x", "y", "z"]) void yielding(name);
    urgent("f");
    expect(await running()).toBe("a b c d e f x");
    await end("x");
    expect(await running()).toBe("a b c d e f y");
    await end("a", "b");
    expect(await running()).toBe("c d e f y z");
  });

  it("a work that fails makes room too", async () => {
    const ways = giveWay();
    await expect(ways.yielding(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
    await expect(ways.urgent(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(await ways.yielding(async () => "yes")).toBe("yes");
  });

  it("one that is given up while it waits never begins", async () => {
    const { urgent, yielding, running, end } = works();
    urgent("a", "b", "c", "d", "e");
    void yielding("x");
    const abort = new AbortController();
    const waiting = yielding("y", abort.signal);
    void yielding("z");
    abort.abort(new Error("stop"));
    await expect(waiting).rejects.toThrow("stop");
    await end("x");
    expect(await running()).toBe("a b c d e z");
  });
});
