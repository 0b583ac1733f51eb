/**
 * Builds the servers of the integration tests from their pinned Go modules: `node test/servers/build.ts [name…]`,
 * by default all of them. What is built already is kept, so a second run does nothing.
 */
import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { findProgram } from "../../src/processes/index.ts";
import { withFileLock } from "./file-lock.ts";
import { isServerName, SERVERS, type ServerName, type ServerRecipe } from "./servers.ts";

const run = promisify(execFile);

export interface BuildOptions {
  /** Told what is being built, and how long that took. Default: standard error. */
  readonly say?: (line: string) => void;
  /** Default: that of this process. */
  readonly env?: NodeJS.ProcessEnv;
}

/**
 * Absolute path of the program: from `KUBEBUILDER_ASSETS` when that folder holds it, else from the cache, else built
 * into the cache. The cache is `SLESS_TEST_SERVERS`, else `sless-test-servers` in the user's cache folder; it may be
 * deleted at any time. Several processes may build at once: one does, the others wait for it.
 *
 * @throws Error that says what is missing, or why the build failed
 */
export async function buildServer(name: ServerName, options: BuildOptions = {}): Promise<string> {
  const { env = process.env, say = (line) => process.stderr.write(`${line}\n`) } = options;
  const asset = env.KUBEBUILDER_ASSETS && findProgram(name, env.KUBEBUILDER_ASSETS);
  if (asset) return asset;
  const go = findProgram("go", env.PATH ?? "");
  if (!go) throw new Error(`${name} is not there: install Go, or set KUBEBUILDER_ASSETS to a folder that holds it`);
  const recipe: ServerRecipe = SERVERS[name];
  const plan = await planBuild(recipe, go, env);
  const folder = join(cacheFolder(env), `${recipe.module}-${plan.key}`);
  const program = join(folder, name);
  if (existsSync(program)) return program;
  await mkdir(folder, { recursive: true });
  const build = async () => {
    if (existsSync(program)) return;
    say(`building ${name}, about ${recipe.minutes} min, once`);
    const started = performance.now();
    await compile(go, plan, `${program}.new`);
    await rename(`${program}.new`, program);
    say(`built ${name} in ${Math.round((performance.now() - started) / 1_000)} s`);
  };
  await withFileLock(join(cacheFolder(env), "lock"), build, () => say(`waiting for ${name}: another process builds`));
  return program;
}

/** All of them, one after the other: a compiler uses every core by itself. */
export async function buildServers(
  names: readonly ServerName[],
  options?: BuildOptions,
): Promise<Partial<Record<ServerName, string>>> {
  const paths: Partial<Record<ServerName, string>> = {};
  for (const name of names) paths[name] = await buildServer(name, options);
  return paths;
}

function cacheFolder(env: NodeJS.ProcessEnv): string {
  return env.SLESS_TEST_SERVERS || join(env.XDG_CACHE_HOME || join(homedir(), ".cache"), "sless-test-servers");
}

interface BuildPlan {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Arguments of `go build` but for the output. */
  readonly args: readonly string[];
  /** Changes with the pinned versions, the sources beside them, the compiler and the arguments. */
  readonly key: string;
}

async function planBuild(recipe: ServerRecipe, go: string, env: NodeJS.ProcessEnv): Promise<BuildPlan> {
  const cwd = join(import.meta.dirname, recipe.module);
  // A workspace around the checkout, or flags of the user's, must not change what is built.
  const goEnv = { ...env, GOWORK: "off", GOFLAGS: "-mod=readonly -buildvcs=false", CGO_ENABLED: "0" };
  const { stdout: compiler } = await run(go, ["env", "GOVERSION", "GOOS", "GOARCH"], { cwd, env: goEnv });
  const names = (await readdir(cwd)).sort();
  const files = await Promise.all(names.map((name) => readFile(join(cwd, name), "utf8")));
  const goMod = files[names.indexOf("go.mod")]!;
  const tags = recipe.tags ? ["-tags", recipe.tags.join(",")] : [];
  const flags = ["-trimpath", ...tags, "-ldflags", ["-s", "-w", ...versionFlags(recipe, goMod)].join(" ")];
  const hash = createHash("sha256").update(JSON.stringify([names, files, compiler, flags]));
  return { cwd, env: goEnv, args: [...flags, recipe.package], key: hash.digest("hex").slice(0, 16) };
}

function versionFlags({ version }: ServerRecipe, goMod: string): string[] {
  if (!version) return [];
  const pinned = goMod.split("\n").map((line) =>
    line
      .replace(/^require /, "")
      .trim()
      .split(" "),
  );
  const whole = pinned.find(([module]) => module === version.of)?.[1];
  const [, major, minor] = /^v(\d+)\.(\d+)\./.exec(whole ?? "") ?? [];
  if (!whole || !major || !minor) throw new Error(`no version of ${version.of} in its go.mod`);
  const parts: Record<string, string> = { whole, major, minor };
  return version.variables.map(([name, part]) => `-X ${name}=${parts[part] ?? part}`);
}

async function compile(go: string, { cwd, env, args }: BuildPlan, output: string): Promise<void> {
  const child = spawn(go, ["build", "-o", output, ...args], { cwd, env, stdio: ["ignore", "ignore", "pipe"] });
  const messages: Buffer[] = [];
  child.stderr.on("data", (chunk: Buffer) => messages.push(chunk));
  const code = await new Promise((resolve, reject) => child.once("error", reject).once("close", resolve));
  if (code === 0) return;
  await rm(output, { force: true });
  const said = Buffer.concat(messages).toString().trim().split("\n");
  throw new Error(`go build ${args.at(-1)} failed:\n${said.slice(-20).join("\n")}`);
}

if (import.meta.main) {
  const names = process.argv.slice(2);
  const unknown = names.find((name) => !isServerName(name));
  if (unknown !== undefined) {
    process.stderr.write(`no server ${unknown}; known are ${Object.keys(SERVERS).join(", ")}\n`);
    process.exit(2);
  }
  const wanted = (names.length > 0 ? names : Object.keys(SERVERS)) as ServerName[];
  for (const [name, path] of Object.entries(await buildServers(wanted))) process.stdout.write(`${name} ${path}\n`);
}
