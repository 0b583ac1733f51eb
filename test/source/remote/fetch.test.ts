import { describe, expect, it } from "vitest";
import { ADAPTERS, filesOf, remoteWorld } from "./remote-world.ts";

describe.each(ADAPTERS)("with $name", (adapter) => {
  it("a repository is read as it is, and a push is followed", async () => {
    const world = await remoteWorld(adapter, { "a/one": "1", two: "2" });
    const reader = await world.reader();
    const first = await reader.resolve({});
    expect(first).toMatchObject({ commit: world.repository.head, revision: `main@sha1:${world.repository.head}` });
    expect(await filesOf(reader, first.tree)).toEqual({ "a/one": "1", two: "2" });
    const next = await world.repository.commit("next", { "a/one": "one" });
    const second = await reader.resolve({ branch: "main" });
    expect(second.commit).toBe(next);
    expect(await filesOf(reader, second.tree)).toEqual({ "a/one": "one", two: "2" });
  });
});
