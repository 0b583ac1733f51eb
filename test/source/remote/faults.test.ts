import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { SlessError } from "../../../src/errors/index.ts";
import { eventually } from "../../support/eventually.ts";
import type { Fault } from "../../support/git-http-server.ts";
import { processesWith } from "../../support/process-tree.ts";
import { ADAPTERS, type Adapter } from "./adapters.ts";
import { filesOf, remoteWorld } from "./remote-world.ts";

const FILES = { "a/one": "1".repeat(5000), two: "2" };
const advertisement = (body: string): Fault => ({
  status: 200,
  headers: { "content-type": "application/x-git-upload-pack-advertisement" },
  body,
});
const page = { status: 200, headers: { "content-type": "text/html" }, body: "<html>" };
const isListing = (body: string) => body.includes("ls-refs");
const isFetch = (body: string) => body !== "" && !isListing(body);
const corrupt = (body: Buffer): Uint8Array => {
  const copy = Buffer.from(body);
  const pack = copy.indexOf("PACK");
  if (pack >= 0) copy[pack + 30] = copy[pack + 30]! ^ 255;
  return copy;
};
/** Of the listing, with an object that nobody has in place of every id. */
const otherIds = (body: Buffer) => Buffer.from(body.toString("latin1").replaceAll(/[0-9a-f]{40}/g, "3".repeat(40)));

/** Whatever is asked, this is answered. */
const ANSWERS: readonly [answer: string, fault: Fault, told: string][] = [
  ["401", { status: 401 }, "credentials_refused: it answered 401"],
  ["403", { status: 403 }, "credentials_refused: it answered 403"],
  ["404", { status: 404 }, "repository_unreachable: it answered 404"],
  ["429", { status: 429 }, "repository_unreachable: it answered 429"],
  ["500", { status: 500 }, "repository_unreachable: it answered 500"],
  ["a page", page, "repository_unreachable: it answered with text/html"],
  [
    "plain files",
    { ...page, headers: { "content-type": "text/plain" } },
    "repository_unreachable: its server speaks only",
  ],
  ["nothing", advertisement(""), "repository_unreachable: its answer broke off"],
  ["a page as Git", advertisement("<html><body>"), "repository_unreachable: it is not what a Git server says"],
  ["a reason", advertisement("0011ERR \x1b[31mno!\n"), "repository_unreachable: it says: [31mno!"],
];

/** What becomes of the answer to a body. */
const FAULTS: readonly [server: string, faultOf: (body: string) => Fault | undefined][] = [
  ["dies in its list of refs", (body) => (isListing(body) ? { after: 30 } : undefined)],
  ["ends its list too early", (body) => (isListing(body) ? { change: (all) => all.subarray(0, -4) } : undefined)],
  ["names a commit that it does not have", (body) => (isListing(body) ? { change: otherIds } : undefined)],
  ["dies before the first byte of a fetch", (body) => (isFetch(body) ? { after: 0 } : undefined)],
  ["dies in the middle of a fetch", (body) => (isFetch(body) ? { after: 120 } : undefined)],
  ["ends a fetch too early", (body) => (isFetch(body) ? { change: (all) => all.subarray(0, 150) } : undefined)],
  ["sends a corrupt pack", (body) => (isFetch(body) ? { change: corrupt } : undefined)],
  ["answers a fetch with 500", (body) => (isFetch(body) ? { status: 500 } : undefined)],
  ["answers a fetch with a page", (body) => (isFetch(body) ? page : undefined)],
];

it("an answer that is none of Git's is told for what it is, and what was fetched can be read on", async () => {
  const { server, reader, before, next } = await withNews(ADAPTERS[0]!);
  const told: [string, string][] = [];
  for (const [answer, fault] of ANSWERS) {
    server.setFault(() => fault);
    const error: SlessError = await reader.resolve({}).catch((thrown) => thrown);
    told.push([answer, `${error.code}: ${error.details.cause}`]);
    expect(await filesOf(reader, before.tree)).toEqual(FILES);
  }
  expect(told).toEqual(ANSWERS.map(([answer, , text]) => [answer, expect.stringContaining(text)]));
  server.setFault(undefined);
  expect(await reader.resolve({})).toMatchObject({ commit: next });
});

/** A world that was fetched once, with something new to fetch. */
async function withNews(adapter: Adapter) {
  const world = await remoteWorld(adapter, FILES);
  const reader = await world.reader();
  const before = await reader.resolve({});
  const next = await world.repository.commit("next", { "a/two": "new".repeat(3000) });
  return { ...world, reader, before, next };
}

describe.each(ADAPTERS)("with $name", (adapter) => {
  it("a server that fails or lies is told, and is followed when it is well again", async () => {
    const { server, repository, reader } = await withNews(adapter);
    for (const [what, faultOf] of FAULTS) {
      server.setFault(({ body }) => faultOf(body));
      for (let round = 0; round < 2; round += 1) {
        const error: SlessError = await reader.resolve({}).catch((thrown) => thrown);
        expect(["repository_unreachable", "ref_not_found", "object_missing"], what).toContain(error.code);
        expect(error.message, what).not.toMatch(/sless-|mirrors/);
      }
      server.setFault(undefined);
      const { commit, tree } = await reader.resolve({});
      expect(await filesOf(reader, tree), what).toMatchObject(FILES);
      expect(commit, what).toBe(await repository.git("rev-parse", "main"));
      await repository.commit(what, { "a/two": what.repeat(1000) });
    }
  });

  it("more than a repository may have is refused", async () => {
    const world = await remoteWorld(
      adapter,
      { big: Buffer.from(Array.from({ length: 3e6 }, (_, n) => (n * n) % 251)) },
      { maxBytes: 1000 },
    );
    await expect((await world.reader()).resolve({})).rejects.toThrow(
      expect.objectContaining({ code: "repository_too_large" }),
    );
  });

  it.each(["GET", "ls-refs", "command=fetch|want "])(
    "a server that hangs at %s is left at once when the reader closes",
    async (at) => {
      const { server, reader, repositories, folder, next } = await withNews(adapter);
      const hanging = Promise.withResolvers<void>();
      server.setFault(({ line, body }) =>
        new RegExp(at).test(`${line} ${body}`) ? { hang: true, onHang: hanging.resolve } : undefined,
      );
      const resolving = reader.resolve({}).catch((error) => error);
      await hanging.promise;
      await reader.close();
      expect(await resolving).toMatchObject({ code: "repository_unreachable" });
      const [mirror] = await readdir(folder);
      await eventually(
        "no process is left",
        () => processesWith(join(folder, mirror!)),
        (pids) => pids.length === 0,
      );
      server.setFault(undefined);
      const again = await repositories.open({ namespace: "demo", url: server.url });
      expect(await again.resolve({})).toMatchObject({ commit: next });
      await again.close();
    },
  );

  it("a server that is gone is told", async () => {
    const { server, reader } = await withNews(adapter);
    await server.kill();
    const told = { code: "repository_unreachable", message: expect.stringContaining("refused the connection") };
    await expect(reader.resolve({})).rejects.toThrow(expect.objectContaining(told));
  });
});
