import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFile, mkdir, readdir, readFile, realpath, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, it, onTestFinished } from "vitest";
import type { LocalImage } from "../../../src/processes/index.ts";
import { builderContract, buildLog, requestOf, untilBuilt, untilFailed } from "../../contract/builder.ts";
import { allOf } from "../../support/all-of.ts";
import { memoryObjectStore } from "../../support/memory-object-store.ts";
import { openLocalBuilder } from "../../support/open-local-builder.ts";
import { testClock } from "../../support/test-clock.ts";

describe("the local builder", () => {
  builderContract(openLocalBuilder);

  it("an image holds the source, its dependencies, and how to start it", async () => {
    const test = await openLocalBuilder();
    const { imageRef } = await untilBuilt(test, await requestOf(test, { "handler.txt": "hi", "deps.txt": "a" }));
    const image = (await test.builder.resolveImage(imageRef))!;
    expect(await readFile(join(image.source, "handler.txt"), "utf8")).toBe("hi");
    expect(await readFile(join(image.deps, "modules", "installed"), "utf8")).toBe("a");
    expect(await readFile(join(image.folder, "modules", "installed"), "utf8")).toBe("a");
    expect(image).toMatchObject({ runtime: "shell1", env: { HEAP: "{memoryMB}", DEPS: image.deps } });
    expect(image.command).toEqual([expect.stringMatching(/^\/.*sh$/), "/opt/shell/server", image.source]);
  });

  it("a source without dependencies has an empty folder of them", async () => {
    const test = await openLocalBuilder();
    const { imageRef } = await untilBuilt(test, await requestOf(test, { "handler.txt": "hi" }));
    const image = (await test.builder.resolveImage(imageRef))!;
    expect(await readdir(image.deps)).toEqual([]);
    expect(await readdir(image.folder)).toEqual([".sless-files.json", "deps", "image.json", "source"]);
  });

  it("a compiled program is part of the image, and another entry point is another image", async () => {
    const build = {
      command: [
        "{interpreter}",
        "-c",
        'cat "$0/handler.txt" > "$1/program"; echo $2 >> "$1/program"',
        "{source}",
        "{out}",
        "{entrypoint}",
      ],
    };
    const test = await openLocalBuilder({ runtime: { build } });
    const files = { "handler.txt": "code ", "other.txt": "x" };
    const { imageRef } = await untilBuilt(test, await requestOf(test, files));
    const image = (await test.builder.resolveImage(imageRef))!;
    expect(await readFile(join(image.folder, "program"), "utf8")).toBe("code handler.handle\n");
    const other = await untilBuilt(test, await requestOf(test, files, { entrypoint: "other.handle" }));
    expect(other.imageRef).not.toBe(imageRef);
  });

  it("without compiling, another entry point is the same image", async () => {
    const test = await openLocalBuilder();
    const files = { "handler.txt": "code ", "other.txt": "x" };
    const { imageRef } = await untilBuilt(test, await requestOf(test, files));
    expect(await untilBuilt(test, await requestOf(test, files, { entrypoint: "other.handle" }))).toMatchObject({
      imageRef,
    });
  });

  it("a failed compilation shows its last lines", async () => {
    const test = await openLocalBuilder({
      runtime: { build: { command: ["sh", "-c", "echo handler.txt:3: oops >&2; exit 2"] } },
    });
    const request = await requestOf(test, { "handler.txt": "x" });
    const failed = await untilFailed(test, request);
    expect(failed).toMatchObject({ reason: "BuildFailed", message: expect.stringContaining("handler.txt:3: oops") });
    const log = await buildLog(test, request.workload, false);
    expect(log).toMatch(/handler\.txt:3: oops\nsless: The build failed: .*\.\n$/);
    expect(log).not.toContain("{");
  });

  it("has its images again after a restart, as they were", async () => {
    const first = await openLocalBuilder();
    const request = await requestOf(first, { "handler.txt": "x", "deps.txt": "a" });
    const built = await untilBuilt(first, request);
    await first.close();
    const second = await openLocalBuilder({ folder: first.folder, objects: first.objects });
    expect(await second.builder.ensure(request)).toEqual({ ...built, reused: true });
    await untilBuilt(second, await requestOf(second, { "handler.txt": "y", "deps.txt": "a" }));
    expect(await second.installs()).toBe(1);
    expect(await buildLog(second, request.workload, false)).toContain("are installed");
  });

  it("an image whose record is damaged is built anew", async () => {
    const test = await openLocalBuilder();
    const request = await requestOf(test, { "handler.txt": "x" });
    const { imageRef } = await untilBuilt(test, request);
    const image = (await test.builder.resolveImage(imageRef))!;
    await writeFile(join(image.folder, "image.json"), "");
    expect(await test.builder.has(imageRef)).toBe(false);
    expect(await untilBuilt(test, request)).toMatchObject({ imageRef });
    expect(await test.builder.has(imageRef)).toBe(true);
  });

  describe("an image that lost something while nobody looked", () => {
    const request = { "handler.txt": "some code", "deps.txt": "a", "data/rows.txt": "1, 2, 3" };

    /** A builder in the folder of one that has built, of which something was damaged. */
    async function afterDamage(spoil: (image: LocalImage, deps: string) => Promise<void>) {
      const first = await openLocalBuilder();
      const wanted = await requestOf(first, request);
      const { imageRef } = await untilBuilt(first, wanted);
      const image = (await first.builder.resolveImage(imageRef))!;
      await first.close();
      await spoil(image, await realpath(image.deps));
      return { ...(await openLocalBuilder({ folder: first.folder, objects: first.objects })), wanted, imageRef };
    }

    it.each<[string, RegExp, number, (image: LocalImage, deps: string) => Promise<void>]>([
      ["a file", /"source\/handler.txt" is gone/, 1, ({ source }) => rm(join(source, "handler.txt"))],
      ["a file's bytes", /"source\/handler.txt" has 0 of 9/, 1, ({ source }) => truncate(join(source, "handler.txt"))],
      ["a file's end", /"source\/handler.txt" has 4/, 1, ({ source }) => truncate(join(source, "handler.txt"), 4)],
      [
        "a folder",
        /"source\/data\/rows.txt" is gone/,
        1,
        ({ source }) => rm(join(source, "data"), { recursive: true }),
      ],
      ["a link", /"deps" is gone/, 1, (image) => rm(image.deps)],
      ["the list of its files", /list of its files/, 1, ({ folder }) => truncate(join(folder, ".sless-files.json"))],
      [
        "a file of its dependencies",
        /"modules\/installed" is gone/,
        2,
        (_, deps) => rm(join(deps, "modules/installed")),
      ],
      ["its dependencies", /a folder of it is gone/, 2, (_, deps) => rm(deps, { recursive: true })],
    ])("%s is made again, and it is told", async (_, told, installs, spoil) => {
      const test = await afterDamage(spoil);
      expect(await test.builder.resolveImage(test.imageRef)).toBeUndefined();
      expect(await test.builder.has(test.imageRef)).toBe(false);
      expect(await untilBuilt(test, test.wanted)).toMatchObject({ imageRef: test.imageRef });
      const image = (await test.builder.resolveImage(test.imageRef))!;
      expect(await readFile(join(image.source, "handler.txt"), "utf8")).toBe("some code");
      expect(await readFile(join(image.deps, "modules/installed"), "utf8")).toBe("a");
      expect(await test.installs()).toBe(installs);
      expect(test.notices).toEqual([expect.stringMatching(told)]);
      expect(test.notices[0]).toMatch(
        /^The image of Function\/demo\/hello on this machine is damaged: .* It is made again\.$/,
      );
    });

    it.each<[string, (image: LocalImage, deps: string) => Promise<void>]>([
      ["a file that grew", ({ source }) => appendFile(join(source, "data/rows.txt"), ", 4")],
      ["a file that is new", ({ source }) => writeFile(join(source, "log.txt"), "x")],
      ["what an interpreter left and took away", async ({ source }) => void (await mkdir(join(source, "__pycache__")))],
      ["no list, of an earlier sless", ({ folder }) => rm(join(folder, ".sless-files.json"))],
    ])("%s is no damage", async (_, change) => {
      const test = await afterDamage(change);
      expect(await test.builder.ensure(test.wanted)).toMatchObject({ phase: "built", reused: true });
      expect(test.notices).toEqual([]);
    });

    it("is looked at once, and anew where something of it did not run", async () => {
      const test = await afterDamage(async () => undefined);
      await test.builder.ensure(test.wanted);
      const { source } = (await test.builder.resolveImage(test.imageRef))!;
      await rm(join(source, "handler.txt"));
      expect(await test.builder.resolveImage(test.imageRef)).toBeDefined();
      expect(await test.builder.imageDamage(test.imageRef)).toBe('"source/handler.txt" is gone');
      expect(await test.builder.resolveImage(test.imageRef)).toBeUndefined();
      await untilBuilt(test, test.wanted);
      expect(await test.builder.imageDamage(test.imageRef)).toBeUndefined();
      expect(await readFile(join(source, "handler.txt"), "utf8")).toBe("some code");
    });

    it("what runs in it keeps its files while it is made again", async () => {
      const test = await afterDamage(({ source }) => rm(join(source, "handler.txt")));
      const key = test.imageRef.slice(-64);
      const source = join(test.folder, "builds/images", key, "source");
      const running = spawn("sh", ["-c", "echo there; read go; cat data/rows.txt"], { cwd: source });
      onTestFinished(() => void running.kill());
      await once(running.stdout, "data");
      await untilBuilt(test, test.wanted);
      const told = text(running.stdout);
      running.stdin.end("go\n");
      expect(await told).toBe("1, 2, 3");
    });
  });

  it("a changed server, interpreter or install command is another image", async () => {
    const test = await openLocalBuilder();
    const request = await requestOf(test, { "handler.txt": "x", "deps.txt": "a" });
    const { runtime } = test;
    const variants = [
      runtime,
      { ...runtime, digest: "1".repeat(64) },
      { ...runtime, interpreter: { ...runtime.interpreter, versionArgs: ["-c", "echo shell 1.2.4"] }, name: "shell2" },
      { ...runtime, install: runtime.install.map((one) => ({ ...one, command: [...one.command, "more"] })) },
    ];
    const images = new Set<string>();
    for (const variant of variants) images.add((await untilBuilt(test, { ...request, runtime: variant })).imageRef);
    expect(images.size).toBe(variants.length);
  });

  it.each(["", "x", "local/a@sha256:zz", `docker.io/a@sha256:${"0".repeat(64)}`, "local/../../etc@sha256:1"])(
    "knows no image %j",
    async (imageRef) => {
      const { builder } = await openLocalBuilder();
      expect(await builder.has(imageRef)).toBe(false);
      expect(await builder.resolveImage(imageRef)).toBeUndefined();
    },
  );

  it("removes an image that is not wanted, and then its dependencies once they are not used for an hour", async () => {
    const clock = testClock(new Date().toISOString());
    const test = await openLocalBuilder({ clock });
    const old = await untilBuilt(test, await requestOf(test, { "handler.txt": "old", "deps.txt": "old" }));
    const kept = await untilBuilt(test, await requestOf(test, { "handler.txt": "kept", "deps.txt": "kept" }));
    const current = await untilBuilt(test, await requestOf(test, { "handler.txt": "new" }));
    const keyOf = ({ imageRef }: { imageRef: string }) => imageRef.slice(-64);
    const keys = (await allOf(test.builder.images())).map(({ key }) => key);
    expect(keys.sort()).toEqual([old, kept, current].map(keyOf).sort());
    expect(await test.builder.bytesOf(keyOf(old))).toBeGreaterThan(0);
    expect(await test.builder.removeImage(keyOf(current))).toBe(false);
    expect(await test.builder.removeImage(keyOf(old))).toBe(true);
    expect(await test.builder.removeImage(keyOf(old))).toBe(true);
    await test.builder.removeLeftovers();
    expect(await readdir(join(test.folder, "builds", "deps"))).toHaveLength(2);
    clock.forward(2 * 3_600_000);
    await test.builder.removeLeftovers();
    const there = [old, kept, current].map(({ imageRef }) => test.builder.has(imageRef));
    expect(await Promise.all(there)).toEqual([false, true, true]);
    expect(await readdir(join(test.folder, "builds", "deps"))).toHaveLength(1);
    const again = await untilBuilt(test, await requestOf(test, { "handler.txt": "old", "deps.txt": "old" }));
    const { deps } = (await test.builder.resolveImage(again.imageRef))!;
    expect(await readFile(join(deps, "modules", "installed"), "utf8")).toBe("old");
    expect(await readdir(join(test.folder, "builds", "tmp"))).toEqual(expect.not.arrayContaining([/doomed/]));
  });
});

describe("what goes wrong in a local build", () => {
  it("a missing toolchain fails its runtime alone, and says how to install it", async () => {
    const test = await openLocalBuilder();
    const { interpreter } = test.runtime;
    const missing = {
      ...test.runtime,
      name: "cobol60",
      interpreter: { ...interpreter, commands: ["cobol"], install: "apt-get install cobol" },
    };
    const failed = await untilFailed(test, {
      ...(await requestOf(test, { "handler.txt": "x" }, { name: "old" })),
      runtime: missing,
    });
    expect(failed).toMatchObject({
      reason: "ToolchainMissing",
      message: "cobol60 needs cobol 1, which is not on this machine. Install it: apt-get install cobol",
    });
    await untilBuilt(test, await requestOf(test, { "handler.txt": "x" }));
  });

  it("a toolchain that was installed meanwhile is found at the next try", async () => {
    const clock = testClock();
    const test = await openLocalBuilder({ clock });
    const bin = join(test.folder, "bin");
    const late = await openLocalBuilder({ clock, path: `${bin}:/usr/bin:/bin` });
    const runtime = { ...test.runtime, interpreter: { ...test.runtime.interpreter, commands: ["late-shell"] } };
    const request = { ...(await requestOf(late, { "handler.txt": "x" })), runtime };
    const { retryAt } = await untilFailed(late, request);
    await mkdir(bin);
    await writeFile(join(bin, "late-shell"), '#!/bin/sh\nexec sh "$@"\n', { mode: 0o755 });
    expect((await late.builder.ensure(request)).phase).toBe("failed");
    clock.forward(retryAt.getTime() - clock.now().getTime());
    await untilBuilt(late, request);
  });

  it("a tool that an install command needs is told like a missing toolchain", async () => {
    const test = await openLocalBuilder({
      runtime: { install: [{ when: ["deps.txt"], command: ["no-such-npm", "ci"] }] },
    });
    const failed = await untilFailed(test, await requestOf(test, { "handler.txt": "x", "deps.txt": "a" }));
    expect(failed).toMatchObject({ reason: "ToolchainMissing", message: expect.stringContaining("no-such-npm") });
  });

  it("says once that another version than the named one serves", async () => {
    const test = await openLocalBuilder();
    const { interpreter } = test.runtime;
    const runtime = { ...test.runtime, interpreter: { ...interpreter, version: "9" } };
    for (const text of ["one", "two"]) {
      await untilBuilt(test, { ...(await requestOf(test, { "handler.txt": text })), runtime });
    }
    expect(test.notices).toHaveLength(1);
    expect(test.notices[0]).toMatch(/^shell1 is not on this machine: \/.*sh \(1\.2\.3\) runs its functions\./);
  });

  it("an archive that is no zip is a failure of its workload", async () => {
    const test = await openLocalBuilder();
    const request = await requestOf(test, { "handler.txt": "x" });
    await test.objects.delete(request.sourceKey);
    await test.objects.put(request.sourceKey, Buffer.from("no zip"));
    const failed = await untilFailed(test, request);
    expect(failed.reason).toBe("SourceUnavailable");
    expect(failed.message).toContain(`${request.sourceKey} cannot be read: it is damaged`);
  });

  it("a store that fails is told, and tried again later", async () => {
    const clock = testClock();
    let isBroken = true;
    const good = memoryObjectStore();
    const read = async (key: string) => {
      if (isBroken) throw Object.assign(new Error("no space left"), { code: "ENOSPC" });
      return good.read(key);
    };
    const test = await openLocalBuilder({ clock, objects: { ...good, read } });
    const request = await requestOf(test, { "handler.txt": "x" });
    expect(await untilFailed(test, request)).toMatchObject({ reason: "StorageUnavailable" });
    isBroken = false;
    expect(await test.builder.ensure(request)).toMatchObject({ phase: "failed" });
    clock.forward(10_000);
    await untilBuilt(test, request);
  });

  it("waits ten seconds after a failure, then twice as long each time, ten minutes at most", async () => {
    const clock = testClock();
    const test = await openLocalBuilder({ clock });
    const request = await requestOf(test, { "handler.txt": "x", "deps.txt": "fail" });
    const waits: number[] = [];
    for (let n = 0; n < 8; n++) {
      const { failedAt, retryAt } = await untilFailed(test, request);
      waits.push((retryAt.getTime() - failedAt.getTime()) / 1000);
      clock.forward(retryAt.getTime() - clock.now().getTime());
    }
    expect(waits).toEqual([10, 20, 40, 80, 160, 320, 600, 600]);
    expect(await test.installs()).toBe(8);
  });

  it("the message holds the last twenty lines, the log all of them", async () => {
    const test = await openLocalBuilder();
    const request = await requestOf(test, { "handler.txt": "x", "deps.txt": "noisy" });
    const { message } = await untilFailed(test, request);
    expect(message).toContain("ended with exit code 7");
    expect(message).toContain("line 59");
    expect(message).toContain("line 40\n");
    expect(message).not.toContain("line 39\n");
    expect(Buffer.byteLength(message)).toBeLessThan(2_500);
    expect(await buildLog(test, request.workload, false)).toContain("line 0\n");
  });

  it("credentials of addresses are in neither message nor log", async () => {
    const test = await openLocalBuilder();
    const request = await requestOf(test, { "handler.txt": "x", "deps.txt": "fail" });
    const { message } = await untilFailed(test, request);
    for (const text of [message, await buildLog(test, request.workload, false)]) {
      expect(text).toContain("no such dependency: https://***@registry.test/x");
      expect(text).not.toContain("secret");
    }
  });

  it("gives an installation an environment of its own", async () => {
    const test = await openLocalBuilder({
      excluded: ["/usr/local/sbin"],
      path: "/usr/local/sbin:/usr/bin:/bin",
      passThrough: { HTTPS_PROXY: "http://proxy.test" },
    });
    const request = await requestOf(test, { "handler.txt": "x", "deps.txt": "env" });
    await untilBuilt(test, request);
    const lines = (await buildLog(test, request.workload, false)).split("\n");
    const names = lines.map((line) => /^(\w+)=/.exec(line)?.[1]).filter((name) => name !== undefined);
    expect(names.filter((name) => !["PWD", "OLDPWD", "_", "SHLVL"].includes(name)).sort()).toEqual(
      [
        "GOCACHE",
        "GOMODCACHE",
        "GOPATH",
        "HOME",
        "HTTPS_PROXY",
        "INSTALL_COUNT",
        "LANG",
        "PATH",
        "PIP_CACHE_DIR",
        "SLESS_PROCESS",
        "TMPDIR",
        "npm_config_cache",
      ].sort(),
    );
    expect(lines).toContain(`HOME=${join(test.folder, "builds", "home")}`);
    expect(lines.find((line) => line.startsWith("PATH="))).not.toContain("/usr/local/sbin");
  });
});
