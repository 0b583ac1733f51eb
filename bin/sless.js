#!/usr/bin/env node
// The command `sless`. In a checkout it installs what is missing and runs the sources on the pinned Node; in a package
// it runs what was compiled. Plain JavaScript, for it runs on whatever Node calls it.
import { spawn } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import module from "node:module";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { bootstrapOrExit, pinnedNode } from "./bootstrap.js";

const PACKAGE_NODE_MIN = 24;
const root = dirname(dirname(realpathSync(fileURLToPath(import.meta.url))));
const source = join(root, "src", "app", "sless.ts");

// `sless secret set api token=…`: the list of processes need not show it any longer than it must.
if (process.argv[2] === "secret") process.title = "sless secret";
if (existsSync(source)) await runCheckout();
else await runPackage();

async function runCheckout() {
  await bootstrapOrExit(root);
  const node = realpathSync(pinnedNode(root));
  if (realpathSync(process.execPath) === node) {
    // Halves the time of every short command; what is cached goes with its source.
    module.enableCompileCache(join(root, "node_modules", ".cache", "sless"));
    await import(pathToFileURL(source).href);
  } else runOn(node, [source, ...process.argv.slice(2)]);
}

/** Runs a command in this one's place: signals go to it, its exit becomes ours. */
function runOn(command, args) {
  const child = spawn(command, args, { stdio: "inherit" });
  // A terminal sends Ctrl-C to both processes by itself; passing it on would make it two.
  process.on("SIGINT", () => process.stdin.isTTY || child.kill("SIGINT"));
  for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("error", (error) => {
    process.stderr.write(`sless: ${command} cannot be started: ${error.message}\n`);
    process.exit(2);
  });
  child.on("exit", (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : code));
}

async function runPackage() {
  const major = Number(process.versions.node.split(".")[0]);
  if (major < PACKAGE_NODE_MIN) {
    process.stderr.write(`sless: needs Node ${PACKAGE_NODE_MIN} or newer, this is ${process.version}\n`);
    process.exit(2);
  }
  await import(pathToFileURL(join(root, "dist", "app", "sless.js")).href);
}
