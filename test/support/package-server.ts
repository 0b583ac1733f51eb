import { buffer } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { pack } from "tar-stream";
import { packArchive } from "../../src/source/index.ts";
import { httpServer } from "./http-server.ts";

export interface PackageServer {
  /** Line of a requirements.txt: a module `own` with `VALUE = 7`. */
  readonly requirement: string;
  /** Address of an npm package that is the text `tiny answers`. */
  readonly tarball: string;
  /** How often a package was fetched. */
  fetched(): number;
  /** From now on whoever asks waits until `release`. */
  hold(): void;
  /** Somebody waits. */
  held(): boolean;
  release(): void;
}

/** A wheel and an npm package to be had by their addresses, without any registry; as long as the test runs. */
export async function packageServer(): Promise<PackageServer> {
  const files: Readonly<Record<string, Uint8Array>> = {
    "/own-1.0-py3-none-any.whl": await wheel(),
    "/tiny.tgz": await npmPackage(),
  };
  let count = 0;
  let isHolding = false;
  const waiting: (() => void)[] = [];
  const { port } = await httpServer((request, answer) => {
    const content = files[request.url ?? ""];
    if (content) count += 1;
    const reply = () => void answer.writeHead(content ? 200 : 404).end(content);
    if (isHolding) waiting.push(reply);
    else reply();
  });
  const origin = `http://127.0.0.1:${port}`;
  return {
    requirement: `own @ ${origin}/own-1.0-py3-none-any.whl\n`,
    tarball: `${origin}/tiny.tgz`,
    fetched: () => count,
    hold() {
      isHolding = true;
    },
    held: () => waiting.length > 0,
    release() {
      isHolding = false;
      for (const reply of waiting.splice(0)) reply();
    },
  };
}

async function wheel(): Promise<Uint8Array> {
  const info = "own-1.0.dist-info";
  const texts = {
    "own.py": "VALUE = 7\n",
    [`${info}/METADATA`]: "Metadata-Version: 2.1\nName: own\nVersion: 1.0\n",
    [`${info}/WHEEL`]: "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    [`${info}/RECORD`]: "",
  };
  return packArchive(
    Object.entries(texts).map(([path, text]) => ({ path, mode: "100644", content: Buffer.from(text) })),
  );
}

async function npmPackage(): Promise<Uint8Array> {
  const archive = pack();
  archive.entry({ name: "package/package.json" }, JSON.stringify({ name: "tiny", version: "1.0.0" }));
  archive.entry({ name: "package/index.js" }, 'module.exports = "tiny answers"');
  archive.finalize();
  return gzipSync(await buffer(archive));
}
