import { execFile } from "node:child_process";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { buildContext } from "../../../src/build/kaniko/build-context.ts";
import type { LayerEntry } from "../../../src/build/layer/index.ts";
import { SlessError } from "../../../src/errors/index.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const run = promisify(execFile);
const FILES: readonly LayerEntry[] = [
  { path: "deps/requirements.txt", content: Buffer.from("idna==3.7\n") },
  { path: "src/bin/start", content: Buffer.from("#!/bin/sh\n"), executable: true },
  { path: "src/link", target: "bin/start" },
  { path: "src/empty", folder: true },
  { path: `src/${"long/".repeat(40)}name.py`, content: Buffer.from("print()\n") },
];

async function* given(files: readonly LayerEntry[]) {
  yield* files;
}

async function archive(files: AsyncIterable<LayerEntry> = given(FILES)): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of buildContext("FROM scratch\n", files)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

it("begins with the Dockerfile, and every folder stands before what is in it", async () => {
  const file = join(await temporaryFolder(), "context.tar.gz");
  await writeFile(file, await archive());
  const { stdout } = await run("tar", ["-tzf", file]);
  const names = stdout.trim().split("\n");
  expect(names.slice(0, 4)).toEqual(["Dockerfile", "deps/", "deps/requirements.txt", "src/"]);
  expect(names).toContain("src/empty/");
  for (const [index, name] of names.entries()) {
    const folder = name.replace(/[^/]+\/?$/, "");
    if (folder !== "") expect(names.slice(0, index)).toContain(folder);
  }
  expect(new Set(names).size).toBe(names.length);
});

it("is unpacked by tar with the modes that images have", async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, "context.tar.gz"), await archive());
  await run("tar", ["-xpzf", "context.tar.gz", "--same-permissions"], { cwd: folder });
  const modeOf = async (path: string) => ((await stat(join(folder, path))).mode & 0o777).toString(8);
  expect(await modeOf("deps/requirements.txt")).toBe("644");
  expect(await modeOf("src/bin/start")).toBe("755");
  expect(await modeOf("src/empty")).toBe("755");
  expect(await readFile(join(folder, "src/link"), "utf8")).toBe("#!/bin/sh\n");
});

it("is the same bytes whenever it is made", async () => {
  expect(await archive()).toEqual(await archive());
});

it("reads no more of its files than whoever takes it has room for", async () => {
  let read = 0;
  async function* endless(): AsyncGenerator<LayerEntry> {
    for (;;) {
      read += 1;
      yield { path: `src/${read}`, content: Buffer.alloc(1024 * 1024, read) };
    }
  }
  const chunks = buildContext("FROM scratch\n", endless());
  await chunks.next();
  await chunks.next();
  await chunks.return(undefined);
  expect(read).toBeLessThan(200);
});

it("fails as its files do", async () => {
  async function* failing(): AsyncGenerator<LayerEntry> {
    yield FILES[0]!;
    throw new SlessError("source_unavailable", { key: "functions/demo/hello/1.zip", cause: "it is gone" });
  }
  await expect(archive(failing())).rejects.toMatchObject({ code: "source_unavailable" });
});
