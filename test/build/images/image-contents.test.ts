import { execFile } from "node:child_process";
import { readFile, readlink, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type ArchiveFile, packArchive } from "../../../src/source/index.ts";
import { digestOf, requestOf, untilBuilt, untilFailed } from "../../contract/builder.ts";
import { pushBaseImage } from "../../support/base-image.ts";
import { readImage } from "../../support/image-files.ts";
import { buildServer, buildServers, describeWithServers } from "../../support/kubernetes/index.ts";
import { inspectImage, unpackImage } from "../../support/oci-tools.ts";
import { openImageBuilder } from "../../support/open-image-builder.ts";
import { openRegistryServer, type RegistryServer } from "../../support/registry-server.ts";

const run = promisify(execFile);
const FOLDER = { mode: "755", uid: 0, type: "directory" };

describeWithServers("an image of a function", () => {
  let server: RegistryServer;
  beforeAll(async () => {
    await buildServers(["crane", "skopeo", "umoci"]);
    server = await openRegistryServer();
  });
  afterAll(() => server?.close());

  it("holds server, source and dependencies, owned by root, and starts the server as nobody", async () => {
    const test = await openImageBuilder(server.host, { runtime: { imageFiles: { "beside.json": "{}" } } });
    const request = await requestOf(test, { "handler.txt": "hi", "deps.txt": "a" });
    const { config, files } = await readImage(test.registry, (await untilBuilt(test, request)).imageRef);
    expect(files).toMatchObject({
      "etc/base": { text: "base" },
      "sless/runtime/server": { text: "#!/bin/sh\n", mode: "755", uid: 0 },
      "sless/image/source": FOLDER,
      "sless/image/source/handler.txt": { text: "hi", mode: "644", uid: 0 },
      "sless/image/deps": FOLDER,
      "sless/image/deps/modules/installed": { text: "a" },
      "sless/image/modules": { type: "symlink", text: "deps/modules" },
      "sless/image/beside.json": { text: "{}", mode: "644" },
    });
    expect(Object.keys(files).filter((path) => path.startsWith("tmp"))).toEqual([]);
    expect(config.config).toMatchObject({
      Entrypoint: ["sh", "/sless/runtime/server", "/sless/image/source"],
      Cmd: [],
      WorkingDir: "/sless/image/source",
      User: "65532",
      Env: [
        "PATH=/usr/bin:/bin",
        "DEPS=/sless/image/deps",
        "SLESS_SOURCE=/sless/image/source",
        "SLESS_DEPS=/sless/image/deps",
      ],
      Labels: {
        "sless.kube5s.ru/source-digest": request.sourceDigest,
        "sless.kube5s.ru/runtime": "shell1",
        "sless.kube5s.ru/version": "1.0.0-test",
        "org.opencontainers.image.base.name": request.runtime.baseImage,
        "org.opencontainers.image.base.digest": expect.stringMatching(/^sha256:/),
      },
    });
  });

  it("without dependencies has an empty folder of them, and no link to what is not there", async () => {
    const test = await openImageBuilder(server.host);
    const { imageRef } = await untilBuilt(test, await requestOf(test, { "handler.txt": "hi" }));
    const { files, manifest } = await readImage(test.registry, imageRef);
    expect(
      Object.keys(files)
        .filter((path) => /^sless\/image\//.test(path))
        .sort(),
    ).toEqual(["sless/image/deps", "sless/image/source", "sless/image/source/handler.txt"]);
    expect(manifest.layers).toHaveLength(3);
    expect(test.jobs.begun).toEqual([]);
  });

  it("keeps links and what may be executed", async () => {
    const test = await openImageBuilder(server.host);
    const bytes = (text: string) => Buffer.from(text);
    const files: ArchiveFile[] = [
      { path: "handler.txt", mode: "100644", content: bytes("hi") },
      { path: "bin/tool", mode: "100755", content: bytes("#!/bin/sh") },
      { path: "bin/link", mode: "120000", content: bytes("../handler.txt") },
    ];
    const request = { ...(await requestOf(test, {})), sourceDigest: digestOf(files) };
    await test.objects.delete(request.sourceKey);
    await test.objects.put(request.sourceKey, await packArchive(files));
    const image = await readImage(test.registry, (await untilBuilt(test, request)).imageRef);
    expect(image.files).toMatchObject({
      "sless/image/source/bin": { type: "directory", mode: "755" },
      "sless/image/source/bin/tool": { mode: "755" },
      "sless/image/source/bin/link": { type: "symlink", text: "../handler.txt" },
    });
  });

  it("of a compiled language holds the program and the source, and not what compiled it", async () => {
    const script = 'cat "$0/handler.txt" > "$1/program"; echo " $2 $(cat "$3/server")" >> "$1/program"';
    const command = ["{interpreter}", "-c", script, "{source}", "{out}", "{entrypoint}", "{runtime}"];
    const test = await openImageBuilder(server.host, {
      runtime: { build: { command }, start: { command: ["{out}/program"], env: {} } },
    });
    const sources = { "handler.txt": "code", "other.txt": "x" };
    const request = await requestOf(test, sources);
    const { imageRef } = await untilBuilt(test, request);
    const { files, config } = await readImage(test.registry, imageRef);
    expect(files).toMatchObject({
      "sless/image/program": { text: "code handler.handle #!/bin/sh\n" },
      "sless/image/source/handler.txt": { text: "code" },
    });
    expect(files).not.toHaveProperty("sless/runtime/server");
    expect(config.config?.Entrypoint).toEqual(["/sless/image/program"]);
    const other = await untilBuilt(test, await requestOf(test, sources, { entrypoint: "other.handle" }));
    expect(other.imageRef).not.toBe(imageRef);
  });

  it("whose dependencies reach into the source holds what commands made of both", async () => {
    const install = [
      {
        when: ["package.json"],
        command: ["sh", "-c", 'cat handler.txt package.json > "$0/made"; echo new > made', "{deps}"],
      },
    ];
    const test = await openImageBuilder(server.host, { runtime: { install, dependencyFiles: ["package.json"] } });
    const manifest = '{"scripts":{"prepare":"make"}}';
    const request = await requestOf(test, { "handler.txt": "code ", "package.json": manifest });
    const { files } = await readImage(test.registry, (await untilBuilt(test, request)).imageRef);
    expect(files).toMatchObject({
      "sless/image/deps/made": { text: `code ${manifest}` },
      "sless/image/source/made": { text: "new\n" },
      "sless/image/source/handler.txt": { text: "code " },
      "sless/runtime/server": { mode: "755" },
    });
    expect(files).not.toHaveProperty("sless/image/modules");
  });

  it("is valid to crane, and skopeo tells of it what it is", async () => {
    const test = await openImageBuilder(server.host);
    const request = await requestOf(test, { "handler.txt": "hi", "deps.txt": "a" });
    const { imageRef } = await untilBuilt(test, request);
    const crane = await buildServer("crane");
    const { stdout, stderr } = await run(crane, ["validate", "--insecure", "--remote", imageRef]);
    expect(stdout + stderr).toMatch(/PASS/);
    const { manifest } = await readImage(test.registry, imageRef);
    expect(await inspectImage(imageRef)).toMatchObject({
      Name: imageRef.split("@")[0],
      Digest: imageRef.split("@")[1],
      Os: "linux",
      Architecture: process.arch === "arm64" ? "arm64" : "amd64",
      Labels: { "sless.kube5s.ru/source-digest": request.sourceDigest, "sless.kube5s.ru/runtime": "shell1" },
      Layers: manifest.layers.map(({ digest }) => digest),
    });
  });

  it("is unpacked by umoci with its modes, its owners and its links, to be run as nobody", async () => {
    const test = await openImageBuilder(server.host);
    const { imageRef } = await untilBuilt(test, await requestOf(test, { "handler.txt": "hi", "deps.txt": "a" }));
    const { rootfs, process: wanted } = await unpackImage(imageRef);
    expect(wanted).toMatchObject({
      args: ["sh", "/sless/runtime/server", "/sless/image/source"],
      env: expect.arrayContaining(["PATH=/usr/bin:/bin", "SLESS_SOURCE=/sless/image/source"]),
      cwd: "/sless/image/source",
      user: { uid: 65532 },
    });
    const image = join(rootfs, "sless/image");
    expect(await readFile(join(image, "source/handler.txt"), "utf8")).toBe("hi");
    expect(await readlink(join(image, "modules"))).toBe("deps/modules");
    expect(await readFile(join(image, "modules/installed"), "utf8")).toBe("a");
    const { uid, mode } = await stat(join(rootfs, "sless/runtime/server"));
    expect([uid, mode & 0o777]).toEqual([process.getuid?.(), 0o755]);
  });

  it("on a base whose layers are packed with zstd is unpacked by umoci", async () => {
    const test = await openImageBuilder(server.host);
    await pushBaseImage(test.registry, `${test.prefix}zstd`, "1", { packed: "zstd", content: "zstd" });
    const runtime = { ...test.runtime, baseImage: `${server.host}/${test.prefix}zstd:1` };
    const { imageRef } = await untilBuilt(test, { ...(await requestOf(test, { "handler.txt": "hi" })), runtime });
    const { rootfs } = await unpackImage(imageRef);
    expect(await readFile(join(rootfs, "etc/base"), "utf8")).toBe("zstd");
    expect(await readFile(join(rootfs, "sless/image/source/handler.txt"), "utf8")).toBe("hi");
  });

  it("is unpacked by umoci with whatever names a source has", async () => {
    const test = await openImageBuilder(server.host);
    const long = `${"folder-with-a-long-name/".repeat(12)}${"n".repeat(200)}.txt`;
    const names = [
      long,
      "ünï/cødé-日本-🙂.txt",
      "e\u0301.txt",
      "-dash",
      "a b  c",
      "@a",
      "*?[x]",
      "a=b",
      '"q"',
      ".wh",
      "x.wh.y",
    ];
    const request = await requestOf(test, {
      "handler.txt": "hi",
      ...Object.fromEntries(names.map((name) => [name, name])),
    });
    const { imageRef } = await untilBuilt(test, request);
    const { rootfs } = await unpackImage(imageRef);
    for (const name of names) expect(await readFile(join(rootfs, "sless/image/source", name), "utf8")).toBe(name);
  });

  it("cannot hold what stands for removed files: such a source is refused by its names, before anything is built", async () => {
    const test = await openImageBuilder(server.host);
    const files = {
      "handler.txt": "hi",
      "deps.txt": "a",
      ".wh.handler.txt": "",
      "lib/.wh..wh..opq": "",
      "lib/.wh.x/y": "",
    };
    const state = await untilFailed(test, await requestOf(test, files));
    expect(state.message).toMatch(
      /cannot hold "\.wh\.handler\.txt", "lib\/\.wh\.\.wh\.\.opq", "lib\/\.wh\.x\/y": .*rename them.*\.slessignore/,
    );
    expect(await test.installs()).toBe(0);
    expect(await test.registry.tags(`${test.prefix}sless-demo_hello`)).toEqual([]);
  });

  it("is the same image wherever it is made", async () => {
    const [one, two] = await Promise.all([openImageBuilder(server.host), openImageBuilder(server.host)]);
    const images = await Promise.all(
      [one, two].map(async (test) => {
        const runtime = { ...test.runtime, baseImage: one.runtime.baseImage };
        const request = { ...(await requestOf(test, { "handler.txt": "hi" })), runtime };
        return (await untilBuilt(test, request)).imageRef.split("@")[1];
      }),
    );
    expect(images[0]).toBe(images[1]);
  });
});
