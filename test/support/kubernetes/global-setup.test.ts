import { execFile } from "node:child_process";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { temporaryFolder } from "../temporary-folder.ts";

const ROOT = resolve(import.meta.dirname, "../../..");
const run = promisify(execFile);

/** A run of one test file on a machine that has neither Go nor any server. */
async function runWithoutServers(env: Record<string, string>): Promise<{ code: number; output: string }> {
  const args = [join(ROOT, "node_modules/vitest/vitest.mjs"), "run", "--reporter=verbose", "control-plane.test.ts"];
  const options = { cwd: ROOT, env: { PATH: "/nowhere", HOME: await temporaryFolder(), NO_COLOR: "1", ...env } };
  return run(process.execPath, args, options).then(
    ({ stdout, stderr }) => ({ code: 0, output: stdout + stderr }),
    ({ code, stdout, stderr }) => ({ code, output: stdout + stderr }),
  );
}

it("without Go, tests on Kubernetes are skipped with the reason", async () => {
  const { code, output } = await runWithoutServers({});
  expect({ code, output }).toMatchObject({ code: 0, output: expect.stringMatching(/skipped: .*install Go/) });
});

it("without Go, tests on Kubernetes fail in CI", async () => {
  const { code, output } = await runWithoutServers({ CI: "true" });
  expect({ code, output }).toMatchObject({ code: 1, output: expect.stringMatching(/Error: .*install Go/) });
});
