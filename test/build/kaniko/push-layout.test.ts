import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { pushLayout } from "../../../src/build/kaniko/index.ts";
import { systemClock } from "../../../src/controller/index.ts";
import { type RegistryClient, registryClient } from "../../../src/registry/index.ts";
import { cutConnections } from "../../support/cut-connections.ts";
import { writeImageLayout } from "../../support/image-layout.ts";
import { buildServer, describeWithServers } from "../../support/kubernetes/index.ts";
import { openRegistryServer, type RegistryServer } from "../../support/registry-server.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const run = promisify(execFile);
const USER = { username: "sless", password: "push" };
const FILE = { path: "app/handler.py", content: Buffer.from("def handle(): ...\n") };
const BASE = { path: "usr/lib/base", content: Buffer.from("the base") };
const BIG_BYTES = 3 * 1024 * 1024;

describeWithServers("an image in a layout", () => {
  let server: RegistryServer;
  let registry: RegistryClient;
  let crane: string;
  const clientOf = (host: string, credentials: typeof USER | undefined = USER, tries = 2) =>
    registryClient({ host, plainHttp: true, clock: systemClock, tries, ...(credentials ? { credentials } : {}) });

  beforeAll(async () => {
    server = await openRegistryServer({ user: USER });
    registry = clientOf(server.host);
    crane = await buildServer("crane");
  });
  afterAll(async () => {
    await registry?.close();
    await server?.close();
  });

  const push = (layout: string, repository: string, options: { client?: RegistryClient; from?: string[] } = {}) =>
    pushLayout({ layout, registry: options.client ?? registry, repository, tag: "v1", mountFrom: options.from ?? [] });

  it("is pushed as it is, and other tools find it whole", async () => {
    const layout = await temporaryFolder();
    const { digest } = await writeImageLayout(layout, [[BASE], [FILE]]);
    expect(await push(layout, "demo/whole")).toBe(digest);
    expect(await registry.manifestDigest("demo/whole", "v1")).toBe(digest);
    await run(crane, ["auth", "login", server.host, "-u", USER.username, "-p", USER.password], {
      env: { DOCKER_CONFIG: layout },
    });
    const image = `${server.host}/demo/whole@${digest}`;
    const { stdout } = await run(crane, ["validate", "--insecure", "--remote", image], {
      env: { DOCKER_CONFIG: layout },
    });
    expect(stdout).toContain("PASS");
  });

  it("is the same when it is pushed again, and nothing is sent", async () => {
    const layout = await temporaryFolder();
    const { digest, layers } = await writeImageLayout(layout, [[FILE]]);
    await push(layout, "demo/again");
    const blobs = join(layout, "blobs", "sha256");
    const layer = layers[0]!.slice("sha256:".length);
    await writeFile(join(blobs, layer), "nobody reads this");
    expect(await push(layout, "demo/again")).toBe(digest);
  });

  it("takes layers of its base from the base's repository", async () => {
    const [base, layout] = [await temporaryFolder(), await temporaryFolder()];
    await writeImageLayout(base, [[BASE]]);
    await push(base, "library/base");
    const { digest, layers } = await writeImageLayout(layout, [[BASE], [FILE]]);
    // Whoever sends it would fail: the file's bytes are not those of its digest.
    await writeFile(join(layout, "blobs", "sha256", layers[0]!.slice("sha256:".length)), "other bytes");
    expect(await push(layout, "demo/mounted", { from: ["library/none", "library/base"] })).toBe(digest);
  });

  it("larger than the memory of a request arrives over connections that break", async () => {
    const layout = await temporaryFolder();
    const big = { path: "app/model.bin", content: randomBytes(BIG_BYTES) };
    const { digest, layers } = await writeImageLayout(layout, [[big]]);
    const client = clientOf(await cutConnections(server.host, 3, BIG_BYTES / 3), USER, 4);
    expect(await push(layout, "demo/broken", { client })).toBe(digest);
    await client.close();
    expect(await registry.hasBlob("demo/broken", layers[0]!)).toBe(true);
  });

  it("is not pushed without credentials, and the registry's words say so", async () => {
    const layout = await temporaryFolder();
    await writeImageLayout(layout, [[FILE]]);
    for (const credentials of [undefined, { username: "sless", password: "wrong" }]) {
      const client = registryClient({
        host: server.host,
        plainHttp: true,
        clock: systemClock,
        ...(credentials ? { credentials } : {}),
      });
      const error = await push(layout, "demo/refused", { client }).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: "image_push_failed" });
      expect(String(error)).toContain("401");
      expect(String(error)).not.toContain("wrong");
      await client.close();
    }
  });

  it("is pushed when the registry comes back meanwhile, and told in words when it does not", async () => {
    const own = await openRegistryServer();
    const layout = await temporaryFolder();
    const { digest } = await writeImageLayout(layout, [[FILE]]);
    await own.stop();
    const failed = push(layout, "demo/down", { client: clientOf(own.host, undefined) });
    await expect(failed).rejects.toThrow(/cannot be pushed to .*demo\/down:v1: registry .* did not answer/);
    const pushed = push(layout, "demo/down", { client: clientOf(own.host, undefined, 9) });
    await own.start();
    expect(await pushed).toBe(digest);
    await own.close();
  });

  it("whose layer is another file than its digest says is refused", async () => {
    const layout = await temporaryFolder();
    const { layers } = await writeImageLayout(layout, [[FILE]]);
    await writeFile(join(layout, "blobs", "sha256", layers[0]!.slice("sha256:".length)), "other bytes");
    await expect(push(layout, "demo/forged")).rejects.toMatchObject({ code: "image_push_failed" });
    expect(await registry.manifest("demo/forged", "v1")).toBeUndefined();
  });
});

/** What commands of a build can do to the folder that is pushed from. */
const SPOILED: Record<string, (layout: string, digests: { image: string; layer: string }) => Promise<void>> = {
  "that is not there": (layout) => rm(layout, { recursive: true }),
  "without an index": (layout) => rm(join(layout, "index.json")),
  "whose index is no JSON": (layout) => writeFile(join(layout, "index.json"), "secret=1"),
  "whose index is a list": (layout) => writeFile(join(layout, "index.json"), "[]"),
  "without an image": (layout) => writeFile(join(layout, "index.json"), '{"manifests":[]}'),
  "whose image is named by a path": (layout) =>
    writeFile(join(layout, "index.json"), '{"manifests":[{"digest":"sha256:../../../etc/passwd"}]}'),
  "whose index is a link": async (layout) => {
    await rename(join(layout, "index.json"), join(layout, "other.json"));
    await symlink("other.json", join(layout, "index.json"));
  },
  "whose blobs are a link": async (layout) => {
    await rename(join(layout, "blobs"), join(layout, "moved"));
    await symlink("moved", join(layout, "blobs"));
  },
  "whose layer is a link to a secret": async (layout, { layer }) => {
    await rm(join(layout, "blobs", "sha256", layer));
    await symlink("/etc/hostname", join(layout, "blobs", "sha256", layer));
  },
  "whose layer is a pipe": async (layout, { layer }) => {
    await rm(join(layout, "blobs", "sha256", layer));
    await run("mkfifo", [join(layout, "blobs", "sha256", layer)]);
  },
  "whose layer is a folder": async (layout, { layer }) => {
    await rm(join(layout, "blobs", "sha256", layer));
    await mkdir(join(layout, "blobs", "sha256", layer));
  },
  "whose image was changed": (layout, { image }) => writeFile(join(layout, "blobs", "sha256", image), "{}"),
};

it.each(Object.entries(SPOILED))("a layout %s is refused before the registry is asked", async (_name, spoil) => {
  const layout = await temporaryFolder();
  const { digest, layers } = await writeImageLayout(layout, [[FILE]]);
  await spoil(layout, { image: digest.slice("sha256:".length), layer: layers[0]!.slice("sha256:".length) });
  const registry = registryClient({ host: "127.0.0.1:1", clock: systemClock, tries: 1 });
  const error = await pushLayout({ layout, registry, repository: "demo/x", tag: "v1", mountFrom: [] }).catch(
    (thrown: unknown) => thrown,
  );
  expect(error).toMatchObject({ code: "image_layout_invalid" });
  expect(String(error)).not.toContain("secret=1");
});
