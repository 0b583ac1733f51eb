import { execFile, spawn } from "node:child_process";
import { chmod, cp, mkdir, symlink, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { watchChild } from "../support/watched-child.ts";

const execFileAsync = promisify(execFile);
const BIN = resolve(import.meta.dirname, "../../bin");
const PINNED = "26.10.0";

/**
 * An installed checkout whose `src/app/sless.ts` is the given code. Its pinned Node is this one: behind a script, which
 * makes it another file, or as a link, which makes it the very one.
 */
async function checkout(code: string, pinned: "another" | "same" = "another"): Promise<string> {
  const root = join(await temporaryFolder(), "a #1 checkout");
  await mkdir(join(root, "src/app"), { recursive: true });
  await mkdir(join(root, "node_modules/.bin"), { recursive: true });
  await cp(BIN, join(root, "bin"), { recursive: true });
  await writeFile(join(root, "src/app/sless.ts"), code);
  const version = pinned === "same" ? process.versions.node : PINNED;
  await writeFile(join(root, "package.json"), JSON.stringify({ type: "module", devDependencies: { node: version } }));
  for (const file of ["package-lock.json", "node_modules/.package-lock.json"])
    await writeFile(join(root, file), JSON.stringify({ packages: {} }));
  const node = join(root, "node_modules/.bin/node");
  if (pinned === "same") await symlink(process.execPath, node);
  else {
    await writeFile(
      node,
      `#!/bin/sh\n[ "$1" = --version ] && echo v${PINNED} && exit\nexec ${process.execPath} "$@"\n`,
    );
    await chmod(node, 0o755);
  }
  return join(root, "bin/sless.js");
}

it.each(["another", "same"] as const)("arguments, output and exit code pass through on %s Node", async (pinned) => {
  const code = `const words: string[] = process.argv.slice(2); console.log(words.join("|")); process.exitCode = 3;`;
  const run = execFileAsync(process.execPath, [await checkout(code, pinned), "plan", "a b", "--base=main"]);
  await expect(run).rejects.toMatchObject({ code: 3, stdout: "plan|a b|--base=main\n" });
});

const WAITING = `process.on("SIGTERM", () => { console.log("stopped"); process.exit(4); });
setInterval(() => {}, 1000); console.log("started");`;

it.each(["another", "same"] as const)(
  "SIGTERM reaches the command on %s Node, and its exit code is kept",
  async (pinned) => {
    const child = spawn(process.execPath, [await checkout(WAITING, pinned)], { stdio: ["ignore", "pipe", "inherit"] });
    const { closed, output, says } = watchChild(child);
    await says("started\n");
    child.kill("SIGTERM");
    const { code } = await closed();
    expect({ code, printed: output() }).toEqual({ code: 4, printed: "started\nstopped\n" });
  },
);

it("a command that a signal kills ends with that signal's code", async () => {
  const run = execFileAsync(process.execPath, [await checkout(`process.kill(process.pid, "SIGKILL");`)]);
  await expect(run).rejects.toMatchObject({ code: 137 });
});
