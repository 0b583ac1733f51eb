import { execFile, spawn } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { answering, callFunction, pythonFunction } from "../support/embedded.ts";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-ports.ts";
import { gitRepository } from "../support/git-repository.ts";
import { removeFolder } from "../support/remove-folder.ts";
import { watchChild } from "../support/watched-child.ts";

const run = promisify(execFile);
const ROOT = resolve(import.meta.dirname, "../..");
/** What a checkout has when it is packed; `dist` is made anew. */
const CHECKOUT = ["bin", "src", "runtimes", "example-repo", "schemas", "crds", "README.md", "LICENSE"];
const PACKAGE_FILES = ["package.json", "tsconfig.json", "tsconfig.build.json"];
const STALE = "dist/app/removed-long-ago.js";

/** Imports as the compiler writes them: at the start of a line, or by a call. */
const IMPORT = /^(?:(?:import|export|\}).* from |import |.*\bimport\()"(?!node:)([^"]+)"[;)]/gm;

/** `@scope/name` or `name` of what is imported, whatever is below it. */
function packageOf(specifier: string): string {
  return specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
}

interface Manifest {
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
}

let folder: string;
/** Environment of somebody who has Node, and nothing of this checkout. */
let env: Record<string, string>;
let files: string[];
let manifest: Manifest;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sless-packed-"));
  const checkout = join(folder, "checkout");
  for (const path of [...CHECKOUT, ...PACKAGE_FILES])
    await cp(join(ROOT, path), join(checkout, path), { recursive: true });
  await symlink(join(ROOT, "node_modules"), join(checkout, "node_modules"));
  for (const path of [STALE, "runtimes/python/__pycache__/server.pyc"]) {
    await mkdir(dirname(join(checkout, path)), { recursive: true });
    await writeFile(join(checkout, path), "stale");
  }
  const path = [
    dirname(process.execPath),
    ...(process.env.PATH ?? "").split(":").filter((part) => !part.includes(ROOT)),
  ];
  env = { PATH: path.join(":"), HOME: process.env.HOME ?? folder, NO_COLOR: "1" };
  const packed = await run("npm", ["pack", "--json"], { cwd: checkout, env, maxBuffer: 1 << 26 });
  const [{ filename, files: listed }] = JSON.parse(packed.stdout.slice(packed.stdout.indexOf("["))) as [
    { filename: string; files: { path: string }[] },
  ];
  files = listed.map((file) => file.path);
  await mkdir(join(folder, "empty"));
  const install = ["install", join(checkout, filename), "--omit=dev", "--prefer-offline", "--no-audit", "--no-fund"];
  await run("npm", install, { cwd: join(folder, "empty"), env });
  manifest = JSON.parse(await readFile(join(installed(), "package.json"), "utf8")) as Manifest;
});
afterAll(() => removeFolder(folder));

const installed = () => join(folder, "empty/node_modules/sless");
const program = () => join(folder, "empty/node_modules/.bin/sless");

/** Runs the installed command; its exit code and output. */
async function sless(args: readonly string[], more: Record<string, string> = {}) {
  const options = { cwd: join(folder, "empty"), env: { ...env, ...more } };
  const { promise, resolve: done } = Promise.withResolvers<{ code: number; stdout: string; stderr: string }>();
  execFile(program(), args, options, (error, stdout, stderr) => {
    done({ code: error === null ? 0 : Number(error.code), stdout, stderr });
  });
  return promise;
}

describe("the package", () => {
  it("holds what runs, and nothing that is only there by chance", () => {
    for (const path of ["bin/sless.js", "dist/app/sless.js", "runtimes/python/server.py", "example-repo/README.md"])
      expect(files).toContain(path);
    const foreign = /__pycache__|\.pyc$|^src\/|^test\/|\.ts$|node_modules|(^|\/)\.sless\//;
    expect(files.filter((path) => foreign.test(path) || path === STALE)).toEqual([]);
  });

  it("imports only what it depends on, and no development dependency is installed", async () => {
    const scripts = files.filter((path) => path.startsWith("dist/") && path.endsWith(".js"));
    const imported = new Set<string>();
    for (const script of scripts) {
      const text = await readFile(join(installed(), script), "utf8");
      for (const [, specifier] of text.matchAll(IMPORT)) imported.add(packageOf(specifier!));
    }
    const own = ([first = ""]: string) => first === ".";
    const missing = [...imported].filter((name) => !own(name) && !Object.hasOwn(manifest.dependencies, name));
    expect(missing).toEqual([]);
    const present = await readdir(join(folder, "empty/node_modules"));
    for (const name of ["typescript", "vitest", "node", "@biomejs"]) expect(present).not.toContain(name);
  });

  it("tells its version and its help, without a word on stderr", async () => {
    expect(await sless(["version"])).toEqual({
      code: 0,
      stdout: `sless ${manifest.version} (node ${process.versions.node})\n`,
      stderr: "",
    });
    expect((await sless(["--help"])).stdout).toContain("Functions deployed by git push");
  });

  it("knows what the containers of builds run", async () => {
    const push = await sless(["push-image", "--layout", "nowhere", "--destination", "127.0.0.1:1/demo:1"]);
    expect(push).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("nowhere cannot be read") });
    const fetched = await sless(["fetch-context", "--url", "file:///etc/passwd", "--to", "context.tar.gz"]);
    expect(fetched).toMatchObject({ code: 2, stderr: expect.stringContaining("cannot be fetched") });
    expect((await sless(["--help"])).stdout).not.toContain("push-image");
  });

  it("refuses a Node that is too old, in one line", async () => {
    const preload = join(folder, "old.mjs");
    const old = JSON.stringify({ ...process.versions, node: "22.1.0" });
    await writeFile(preload, `Object.defineProperty(process, "versions", { value: ${old} });`);
    const { code, stderr } = await sless(["version"], { NODE_OPTIONS: `--import=${preload}` });
    expect(code).toBe(2);
    expect(stderr).toMatch(/^sless: needs Node 24 or newer, this is .*\n$/);
  });

  it("plans a repository", async () => {
    const repository = await gitRepository(pythonFunction("one", answering("first")));
    const { code, stdout, stderr } = await sless(["plan", "--repo", repository.dir]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
    expect(stdout).toContain(
      "+ Function/default/one   append: nothing is to be installed   (functions/one/function.yaml:2)",
    );
    expect((await sless(["init", "--runtime"])).stdout).toContain("python3.11\n");
  });

  it("serves a function, follows a push, and ends at SIGTERM", async () => {
    const repository = await gitRepository(pythonFunction("one", answering("first")));
    const port = await freePort();
    const args = ["dev", "--repo", repository.dir, "--data", join(folder, "data"), "--port", String(port)];
    const server = spawn(program(), args, { cwd: join(folder, "empty"), env, stdio: ["ignore", "pipe", "pipe"] });
    const { closed, output } = watchChild(server);
    const answer = async () =>
      (await callFunction(`http://127.0.0.1:${port}/fn/default/one`).catch(() => undefined))?.body;
    const answers = (value: string) => eventually(`it answers ${value}\n${output()}`, answer, (body) => body === value);
    await answers("first");
    await repository.commit("change", { "functions/one/handler.py": answering("second") });
    await answers("second");
    server.kill("SIGTERM");
    const { code } = await closed();
    expect({ code, output: output() }).toMatchObject({ code: 0, output: expect.stringContaining("http://127.0.0.1") });
    expect(output()).not.toContain("Warning");
  });
});
