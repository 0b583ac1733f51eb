import { createServer } from "node:http";
import { join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { beforeAll, expect, it, onTestFinished } from "vitest";
import { findInterpreter, loadRuntimes, type Runtime } from "../../../src/runtimes/index.ts";
import { requestOf, untilBuilt, untilFailed } from "../../contract/builder.ts";
import { openLocalBuilder } from "../../support/open-local-builder.ts";

const ROOT = resolve(import.meta.dirname, "../../..");
const SEARCH = { path: process.env.PATH ?? "", excluded: [join(ROOT, "node_modules")] };
let runtimes: ReadonlyMap<string, Runtime>;

beforeAll(async () => {
  runtimes = await loadRuntimes(join(ROOT, "runtimes"));
});

/** A builder with the machine's own tools; undefined where they are missing. */
async function openWith(name: string, passThrough: Record<string, string> = {}) {
  const runtime = runtimes.get(name)!;
  if (!(await findInterpreter(runtime, SEARCH))) return undefined;
  return { ...(await openLocalBuilder({ ...SEARCH, passThrough })), runtime };
}

it("pip tells of a package that does not exist", async (context) => {
  const test = await openWith("python3.11", { PIP_NO_INDEX: "1" });
  if (!test) return context.skip("needs python");
  const files = { "handler.py": "def handle(event): pass", "requirements.txt": "no-such-package==1.0\n" };
  expect(await untilFailed(test, await requestOf(test, files))).toMatchObject({
    reason: "DependenciesFailed",
    message: expect.stringMatching(/requirements\.txt\.\n[\s\S]*no-such-package==1\.0/),
  });
});

it("npm installs into the image, where modules look for packages", async (context) => {
  const test = await openWith("nodejs20");
  if (!test) return context.skip("needs node");
  const origin = await servePackage("tiny");
  const packageJson = JSON.stringify({ dependencies: { tiny: `${origin}/tiny.tgz` } });
  const files = { "handler.js": "exports.handle = () => require('tiny')", "package.json": packageJson };
  const { imageRef } = await untilBuilt(test, await requestOf(test, files));
  const image = (await test.builder.resolveImage(imageRef))!;
  const { default: handler } = (await import(join(image.source, "handler.js"))) as { default: { handle(): string } };
  expect(handler.handle()).toBe("tiny answers");
});

it("an empty package.json builds", async (context) => {
  const test = await openWith("nodejs20");
  if (!test) return context.skip("needs node");
  await untilBuilt(test, await requestOf(test, { "handler.js": "exports.handle = () => 1", "package.json": "{}" }));
});

/** A server of one npm package. */
async function servePackage(name: string): Promise<string> {
  const files = {
    "package.json": JSON.stringify({ name, version: "1.0.0" }),
    "index.js": `module.exports = "${name} answers"`,
  };
  const blocks = Object.entries(files).flatMap(([path, text]) => tarEntry(`package/${path}`, Buffer.from(text)));
  const tarball = gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)]));
  const server = createServer((_request, response) => response.end(tarball)).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await new Promise((listening) => server.once("listening", listening));
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`;
}

function tarEntry(path: string, content: Buffer): Buffer[] {
  const header = Buffer.alloc(512);
  header.write(path, 0);
  header.write("0000644\0", 100);
  header.write(`${content.length.toString(8).padStart(11, "0")}\0`, 124);
  header.write("        0", 148);
  header.write("ustar\u000000", 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return [header, content, Buffer.alloc((512 - (content.length % 512)) % 512)];
}
