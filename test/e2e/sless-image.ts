import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { appendImage, type LayerEntry, makeLayer } from "../../src/build/layer/index.ts";
import { systemClock } from "../../src/controller/index.ts";
import { registryClient } from "../../src/registry/index.ts";
import { type BuiltImage, buildImage, filesBelow, imageAt } from "./build-image.ts";
import type { E2eCluster } from "./open-cluster.ts";

const ROOT = join(import.meta.dirname, "../..");
const FOLDERS = ["bin", "runtimes", "src"];
const FILES = [
  "LICENSE",
  "package.json",
  "package-lock.json",
  "tsconfig.json",
  "tsconfig.build.json",
  "deploy/Dockerfile",
];

/** The image of sless by its own Dockerfile. */
export async function buildSlessImage(cluster: E2eCluster, namespace: string): Promise<BuiltImage> {
  const folders = await Promise.all(FOLDERS.map((folder) => filesBelow(join(ROOT, folder), `${folder}/`)));
  const files = await Promise.all(FILES.map(async (path) => ({ path, content: await readFile(join(ROOT, path)) })));
  const args = { NODE_IMAGE: await nodeImage(cluster) };
  return buildImage(cluster, namespace, {
    name: "sless",
    context: [...folders.flat(), ...files],
    dockerfile: "deploy/Dockerfile",
    args,
  });
}

/** What the Dockerfile names; where the mirror has none, an older one with the Node that runs this test on top. */
async function nodeImage(cluster: E2eCluster): Promise<string> {
  const wanted = "docker.io/library/node:26-slim";
  const mirror = cluster.settings.registryMirror;
  if (!mirror) return wanted;
  const client = registryClient({ host: mirror, plainHttp: cluster.isPlainRegistry, clock: systemClock });
  try {
    if (await client.manifestDigest("library/node", "26-slim")) return wanted;
    const digest = await client.manifestDigest("library/node", "20-slim");
    if (!digest) throw new Error(`${mirror} has neither library/node:26-slim nor library/node:20-slim`);
    const version = process.version.slice(1);
    const repository = "sless-e2e-node";
    const tag = `${version}-on-${digest.slice(7, 19)}-with-libatomic`;
    const present = await cluster.registry.manifestDigest(repository, tag);
    if (present) return imageAt(cluster, repository, present).reference;
    const pushed = await appendImage({
      base: { host: mirror, client, repository: "library/node", digest },
      layers: [await makeLayer(await nodeFiles())],
      settings: { entrypoint: ["node"], workingDir: "/", user: "", env: { NODE_VERSION: version }, labels: {} },
      target: { client: cluster.registry, repository, tags: [tag] },
    });
    return imageAt(cluster, repository, pushed).reference;
  } finally {
    await client.close();
  }
}

/** The program, and the one library that older images of Node have not. */
async function nodeFiles(): Promise<LayerEntry[]> {
  const { stdout } = await promisify(execFile)("ldd", [process.execPath]);
  const library = /libatomic\.so\.1 => (\S+)/.exec(stdout)?.[1];
  const files = [{ path: "usr/local/bin/node", content: await readFile(process.execPath), executable: true }];
  // Not as `lib/…`: that is a link to usr/lib, which a folder of the layer would replace.
  const at = library?.replace(/^\/(usr\/)?/, "usr/");
  return at ? [...files, { path: at, content: await readFile(library!) }] : files;
}
