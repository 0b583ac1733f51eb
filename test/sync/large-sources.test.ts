import { buffer } from "node:stream/consumers";
import { expect, it } from "vitest";
import { SlessError } from "../../src/errors/index.ts";
import { type GitReader, readArchive } from "../../src/source/index.ts";
import { functionFolder } from "../support/function-files.ts";
import type { Files } from "../support/git-repository.ts";
import { syncWorld } from "./sync-world.ts";

const MIB = 1024 * 1024;
const LARGE = Buffer.alloc(3 * MIB, "the largest of all ");

/** A source of 3 MiB in one file, 4 MiB in many, one file twice, a program and a link. */
const files: Files = {
  ...functionFolder("hello"),
  ...Object.fromEntries(
    Array.from({ length: 40 }, (_, at) => [`functions/hello/data/${at}.txt`, `${at} `.repeat(40_000)]),
  ),
  "functions/hello/large.bin": LARGE,
  "functions/hello/again/large.bin": LARGE,
  "functions/hello/run.sh": { mode: "755", content: "#!/bin/sh\n" },
  "functions/hello/link": { symlink: "run.sh" },
};

it("a large source is stored as it is packed: of its files a few are in memory at a time", async () => {
  const asked: number[] = [];
  const git = (reader: GitReader): GitReader => ({
    ...reader,
    async blobs(ids) {
      const found = await reader.blobs(ids);
      asked.push([...found.values()].reduce((sum, { length }) => sum + length, 0));
      return found;
    },
  });
  const world = await syncWorld(files, { git });
  await world.sync();
  expect(Math.max(...asked)).toBe(LARGE.length);
  expect(asked.length).toBeLessThan(15);

  const stored = await world.objects.read((await world.get("Function", "hello"))!.spec.s3Key!);
  const unpacked = new Map(
    (await readArchive(await buffer(stored!.body))).map(({ path, ...file }) => [path, file] as const),
  );
  expect(unpacked.size).toBe(Object.keys(files).filter((path) => path.startsWith("functions/hello/")).length - 1);
  for (const path of ["large.bin", "again/large.bin"])
    expect(Buffer.compare(unpacked.get(path)!.content, LARGE)).toBe(0);
  expect(Buffer.from(unpacked.get("data/7.txt")!.content).toString()).toBe("7 ".repeat(40_000));
  expect(unpacked.get("run.sh")).toMatchObject({ mode: "100755" });
  expect(unpacked.get("link")).toEqual({ mode: "120000", content: Buffer.from("run.sh") });
});

it("a large source with a file that cannot be read is not stored, and told at the function; others go on", async () => {
  let isTorn = true;
  const git = (reader: GitReader): GitReader => ({
    ...reader,
    async blobs(ids) {
      const found = await reader.blobs(ids);
      const isLarge = [...found.values()].some(({ length }) => length === LARGE.length);
      if (isTorn && isLarge) throw new SlessError("object_missing", { id: ids[0]!, url: "it" });
      return found;
    },
  });
  const world = await syncWorld({ ...files, ...functionFolder("other") }, { git });
  await world.sync();
  expect(await world.names()).toContain("Function/demo/other");
  expect(await world.names()).not.toContain("Function/demo/hello");
  for await (const key of world.objects.list("functions/demo/")) expect(key).toContain("/other/");

  isTorn = false;
  await world.sync();
  expect(await world.names()).toContain("Function/demo/hello");
});
