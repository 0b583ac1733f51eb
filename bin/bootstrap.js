// Installs what this checkout needs, when it is missing or stale. Plain JavaScript without dependencies: it runs on
// any Node from 20 on, before the pinned Node exists. Prints to stderr only, so that outputs stay clean.
import { execFileSync, spawnSync } from "node:child_process";
import {
  existsSync,
  linkSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const LOCK_POLL_MS = 200;

/** A reason why the checkout cannot be used, in words that say what to do. */
export class BootstrapError extends Error {}

/** Path of the Node that the checkout pins. */
export function pinnedNode(root) {
  return join(root, "node_modules", ".bin", "node");
}

/**
 * Brings `node_modules` to the state of `package-lock.json`; quick and silent when it is there already.
 * Safe to run at the same time in several processes.
 *
 * @param {string} root folder of the checkout
 * @param {{ say?: (line: string) => void, env?: NodeJS.ProcessEnv }} [options]
 * @returns {Promise<"present" | "installed">}
 */
export async function bootstrap(root, { say = sayToStderr, env = process.env } = {}) {
  const lock = join(root, ".sless-install.lock");
  // While another process installs, what is there already may look complete and not be.
  if (!existsSync(lock) && isInstalled(root)) {
    checkPinnedNode(root);
    linkCommand(root);
    return "present";
  }
  const release = await takeLock(lock, say);
  try {
    if (!isInstalled(root)) install(root, say, env);
    checkPinnedNode(root);
    linkCommand(root);
    return "installed";
  } finally {
    release();
  }
}

/** `node_modules` holds just what the lock file names; npm's own record of the last install tells. */
export function isInstalled(root) {
  const wanted = readJson(join(root, "package-lock.json"))?.packages;
  const present = readJson(join(root, "node_modules", ".package-lock.json"))?.packages;
  if (!wanted || !present) return false;
  const missing = ([path, entry]) => path !== "" && !entry.optional && present[path]?.version !== entry.version;
  const foreign = ([path, entry]) => wanted[path]?.version !== entry.version;
  return !Object.entries(wanted).some(missing) && !Object.entries(present).some(foreign);
}

function install(root, say, env) {
  const first = readJson(join(root, "node_modules", ".package-lock.json")) === undefined;
  say(
    first
      ? "sless: first start: installing its packages and its own Node (about 150 MB, once) ..."
      : "sless: package-lock.json has changed: installing anew ...",
  );
  const started = Date.now();
  // Not `npm ci`: it refuses a lock file without an optional package that no registry has (vite names one for Windows),
  // and it would fetch the pinned Node anew for every change. The lock file decides the versions here too, and stays.
  // Errors only: on Node 20 some packages warn (EBADENGINE) about a Node that only ever runs this file.
  const args = ["install", "--no-save", "--include=dev", "--no-audit", "--no-fund", "--loglevel=error"];
  const result = runNpm(args, root, env);
  if (result.error)
    throw new BootstrapError(`npm cannot be started (${result.error.message}); install npm 10 or newer`);
  if (result.status !== 0)
    throw new BootstrapError(
      `npm install failed (${result.signal ?? `exit code ${result.status}`}); mend what npm says above and start again`,
    );
  say(`sless: installed in ${Math.round((Date.now() - started) / 1000)} s`);
}

function runNpm(args, root, env) {
  // The install replaces node_modules, the pinned Node included: npm must not run on that one.
  const own = join(root, "node_modules", ".bin");
  const path = (env.PATH ?? "").split(delimiter).filter((folder) => folder !== own);
  const options = { cwd: root, stdio: ["ignore", 2, 2], env: { ...env, PATH: path.join(delimiter) } };
  return spawnSync("npm", args, options);
}

function checkPinnedNode(root) {
  const wanted = readJson(join(root, "package.json"))?.devDependencies?.node;
  const found = versionOf(pinnedNode(root));
  if (found === `v${wanted}`) return;
  const seen = found ? `is ${found}` : "is not there";
  throw new BootstrapError(
    `the pinned Node ${wanted} ${seen}: npm did not run the install script of the package "node". ` +
      `Run: npm rebuild node --ignore-scripts=false`,
  );
}

/**
 * Lets `npx sless` find the command of this checkout as it finds that of a package. Otherwise npm makes an installation of
 * the checkout in a folder of its own first, and warns about the Node that it runs on.
 */
function linkCommand(root) {
  try {
    symlinkSync(join("..", "..", "bin", "sless.js"), join(root, "node_modules", ".bin", "sless"));
  } catch {
    // It is there, or no link can be made here: npx finds another way.
  }
}

function versionOf(node) {
  try {
    return execFileSync(node, ["--version"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  } catch {
    return undefined;
  }
}

/**
 * Waits until this process alone holds the lock file. A lock whose process is gone is taken over.
 *
 * @returns {Promise<() => void>} gives it back
 */
async function takeLock(file, say) {
  let told = false;
  for (;;) {
    try {
      writeFileSync(file, String(process.pid), { flag: "wx" });
      return () => rmSync(file, { force: true });
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
    }
    if (isAbandoned(file)) removeAbandoned(file);
    else {
      if (!told) say("sless: another process installs here; waiting for it ...");
      told = true;
      await wait(LOCK_POLL_MS);
    }
  }
}

function isAbandoned(file) {
  let pid;
  try {
    pid = Number(readFileSync(file, "utf8"));
  } catch {
    return false;
  }
  // Empty for the instant between creation and writing.
  if (!pid) return false;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return error.code === "ESRCH";
  }
}

/** Only one of several waiters gets the file by the rename; one that caught a newer lock puts it back. */
function removeAbandoned(file) {
  const aside = `${file}.${process.pid}`;
  try {
    renameSync(file, aside);
    if (!isAbandoned(aside)) linkSync(aside, file);
  } catch {
    // Another waiter was quicker.
  } finally {
    rmSync(aside, { force: true });
  }
}

function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}

function sayToStderr(line) {
  process.stderr.write(`${line}\n`);
}

/** Runs the bootstrap of this checkout; a failure is one line and exit code 2. */
export async function bootstrapOrExit(root) {
  try {
    return await bootstrap(root);
  } catch (error) {
    if (!(error instanceof BootstrapError)) throw error;
    sayToStderr(`sless: ${error.message}`);
    process.exit(2);
  }
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  await bootstrapOrExit(dirname(dirname(fileURLToPath(import.meta.url))));
}
