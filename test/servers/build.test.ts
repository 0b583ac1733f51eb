import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { buildServer } from "./build.ts";

const run = promisify(execFile);

/** A machine with an empty cache and a stand-in for Go's compiler, which notes its calls in `calls`. */
async function machine({ compiler = "go1.30", fails = false } = {}) {
  const folder = await temporaryFolder();
  const calls = join(folder, "calls");
  await writeFile(calls, "");
  const go = [
    "#!/bin/sh",
    `if [ "$1" = env ]; then printf '${compiler}\\nlinux\\namd64\\n'; exit; fi`,
    `echo "$*" >> "${calls}"`,
    ...(fails ? ["echo 'main.go:1: no such package' >&2", "exit 1"] : ['echo program > "$3"', 'chmod +x "$3"']),
  ];
  await mkdir(join(folder, "bin"));
  await writeFile(join(folder, "bin/go"), go.join("\n"), { mode: 0o755 });
  const env = { PATH: `${join(folder, "bin")}:/usr/bin:/bin`, SLESS_TEST_SERVERS: join(folder, "cache") };
  return { folder, env, builds: async () => (await readFile(calls, "utf8")).split("\n").filter(Boolean) };
}

const quiet = () => undefined;

it("a server is taken from KUBEBUILDER_ASSETS where that holds it", async () => {
  const { folder, env, builds } = await machine();
  const assets = join(folder, "assets");
  await mkdir(assets);
  await writeFile(join(assets, "etcd"), "", { mode: 0o755 });
  const options = { env: { ...env, KUBEBUILDER_ASSETS: assets }, say: quiet };
  expect(await buildServer("etcd", options)).toBe(join(assets, "etcd"));
  expect(await buildServer("kwok", options)).toMatch(/\/cache\/kwok-[0-9a-f]{16}\/kwok$/);
  expect(await builds()).toHaveLength(1);
});

it("a server is built once, with its pinned version, and says so", async () => {
  const { env, builds } = await machine();
  const said: string[] = [];
  const say = (line: string) => said.push(line);
  const path = await buildServer("kube-apiserver", { env, say });
  expect(await buildServer("kube-apiserver", { env, say })).toBe(path);
  expect(await readFile(path, "utf8")).toBe("program\n");
  expect(said).toEqual(["building kube-apiserver, about 3 min, once", "built kube-apiserver in 0 s"]);
  expect(await builds()).toEqual([
    expect.stringContaining("gitVersion=v1.34.4 -X k8s.io/component-base/version.gitMajor=1"),
  ]);
});

it("another compiler builds anew", async () => {
  const { env } = await machine();
  const { env: other } = await machine({ compiler: "go1.31" });
  const paths = await Promise.all(
    [env, { ...other, SLESS_TEST_SERVERS: env.SLESS_TEST_SERVERS }].map((each) =>
      buildServer("etcd", { env: each, say: quiet }),
    ),
  );
  expect(new Set(paths).size).toBe(2);
});

it("of two processes that need the same server one builds it", async () => {
  const { env, builds } = await machine();
  const build = () => run(process.execPath, [join(import.meta.dirname, "build.ts"), "etcd"], { env });
  const [first, second] = await Promise.all([build(), build()]);
  expect(first.stdout).toBe(second.stdout);
  expect(await builds()).toHaveLength(1);
});

it("a failed build says what the compiler said and leaves nothing that looks built", async () => {
  const { env, builds } = await machine({ fails: true });
  for (let attempt = 1; attempt <= 2; attempt += 1) {
    await expect(buildServer("etcd", { env, say: quiet })).rejects.toThrow(/go build \. failed:\nmain.go:1: no such/);
    expect(await builds()).toHaveLength(attempt);
  }
});

it("without Go it says what to do", async () => {
  const { env } = await machine();
  await expect(buildServer("etcd", { env: { ...env, PATH: "/nowhere" } })).rejects.toThrow(
    "etcd is not there: install Go, or set KUBEBUILDER_ASSETS to a folder that holds it",
  );
});

it("an unknown name is refused with the known ones", async () => {
  const { env } = await machine();
  const failure = await run(process.execPath, [join(import.meta.dirname, "build.ts"), "etc"], { env }).catch(
    (error: { code: number; stderr: string }) => error,
  );
  expect(failure).toMatchObject({ code: 2, stderr: expect.stringMatching(/^no server etc; known are etcd, kube-/) });
});
