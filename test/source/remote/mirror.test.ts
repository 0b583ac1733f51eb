import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { SlessError } from "../../../src/errors/index.ts";
import type { Fetcher, FetchRequest, GitHttp } from "../../../src/source/index.ts";
import { createMirror, type Mirror } from "../../../src/source/remote/mirror.ts";
import { eventually } from "../../support/eventually.ts";
import { runGit } from "../../support/git-repository.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { ADAPTERS } from "./adapters.ts";
import { filesOf, remoteWorld } from "./remote-world.ts";

const id = (n: number) => n.toString(16).padStart(40, "0");

/** A mirror whose fetches leave a file in place of a pack. */
async function fakeMirror(options: { fails?: (request: FetchRequest) => unknown; tidy?: Fetcher["tidy"] } = {}) {
  const folder = join(await temporaryFolder(), "mirror");
  const fetched: string[] = [];
  const fetcher: Fetcher = {
    async fetch(request) {
      fetched.push(request.commit);
      const error = options.fails?.(request);
      if (error) throw error;
      await writeFile(join(request.mirror, "objects/pack", `pack-${request.commit}.pack`), "");
    },
    ...(options.tidy && { tidy: options.tidy }),
  };
  const mirror: Mirror = createMirror(folder, fetcher);
  const ensure = (commit: string, user: object = mirror, signal = new AbortController().signal) =>
    mirror.ensure(user, { http: {} as GitHttp, commit, signal });
  const packs = async () => (await readdir(join(folder, "objects/pack"))).length;
  return { mirror, folder, fetched, ensure, packs };
}

describe("a mirror", () => {
  it("fetches a commit once", async () => {
    const { ensure, fetched } = await fakeMirror();
    await Promise.all([ensure(id(1)), ensure(id(1)), ensure(id(2))]);
    await ensure(id(1));
    expect(fetched).toEqual([id(1), id(2)]);
  });

  it.each<[string, unknown, boolean]>([
    ["when the server is at fault stays", new SlessError("credentials_refused", { url: "it", cause: "no" }), true],
    ["for another reason is made anew", new Error("bad object"), false],
  ])("whose fetch fails %s", async (_, error, stays) => {
    let isFailing = false;
    const { ensure, fetched } = await fakeMirror({ fails: () => (isFailing ? error : undefined) });
    await ensure(id(1));
    isFailing = true;
    await expect(ensure(id(2))).rejects.toBe(error);
    isFailing = false;
    await ensure(id(1));
    expect(fetched).toEqual(stays ? [id(1), id(2)] : [id(1), id(2), id(1)]);
  });

  it("that somebody found faulty is made anew", async () => {
    const { mirror, ensure, fetched } = await fakeMirror();
    await ensure(id(1));
    mirror.distrust();
    await ensure(id(1));
    expect(fetched).toEqual([id(1), id(1)]);
  });

  it("is tidied after many fetches, and keeps what somebody needs", async () => {
    let count = 0;
    const world = await fakeMirror({
      tidy: async () => {
        count += 1;
      },
    });
    const first = {};
    await world.ensure(id(0), first);
    for (let n = 1; n < 30; n += 1) await world.ensure(id(n));
    await world.mirror.rest();
    expect(count).toBe(1);
    await world.ensure(id(0));
    await world.ensure(id(29));
    expect(world.fetched).toHaveLength(30);
    await world.ensure(id(5));
    expect(world.fetched).toHaveLength(31);
  });

  it("is made anew now and then when it cannot be tidied", async () => {
    const { ensure, packs } = await fakeMirror();
    for (let n = 0; n < 50; n += 1) await ensure(id(n));
    expect(await packs()).toBeLessThan(21);
  });

  it("of commits of another kind is made anew", async () => {
    const { ensure, fetched, folder } = await fakeMirror();
    await ensure(id(1));
    const longer = `${id(1)}${id(2).slice(16)}`;
    await ensure(longer);
    expect(await runGit(folder, "rev-parse", "--show-object-format")).toBe("sha256");
    await ensure(id(1));
    expect(fetched).toEqual([id(1), longer, id(1)]);
  });
});

it("git packs what many fetches left, while it is read", async () => {
  const { fetcher } = ADAPTERS[0]!;
  const world = await remoteWorld(ADAPTERS[0]!, { a: "0", b: "0" });
  const reader = await world.reader();
  for (let n = 1; n < 4; n += 1) {
    await reader.resolve({});
    await world.repository.commit(`${n}`, { a: `${n}` });
  }
  const { tree } = await reader.resolve({});
  const [name] = await readdir(world.folder);
  const mirror = join(world.folder, name!);
  const packs = async () =>
    (await readdir(join(mirror, "objects/pack"))).filter((file) => file.endsWith(".pack")).length;
  expect(await packs()).toBe(4);
  const tidying = fetcher.tidy!(mirror, new AbortController().signal);
  let isTidying = true;
  void tidying.finally(() => {
    isTidying = false;
  });
  while (isTidying) expect(await filesOf(reader, tree)).toEqual({ a: "3", b: "0" });
  await tidying;
  expect(await packs()).toBe(1);
  const commit = await world.repository.commit("after", { a: "4" });
  const after = await reader.resolve({});
  expect(after.commit).toBe(commit);
  expect(await filesOf(reader, after.tree)).toEqual({ a: "4", b: "0" });
  await eventually("the fetch made a pack", packs, (count) => count === 2);
});
