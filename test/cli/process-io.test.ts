import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { open, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { watchChild } from "../support/watched-child.ts";

const FACE = resolve(import.meta.dirname, "../../src/cli/process-io.ts");

/** Runs code that has `io` and `endProcess`, in a process of its own; `onOutput` sees what it prints so far. */
async function running(code: string, onOutput: (printed: string, child: ReturnType<typeof spawn>) => void) {
  const script = join(await temporaryFolder(), "script.ts");
  const imports = `import { endProcess, processIo } from ${JSON.stringify(FACE)};\nconst io = processIo(process);\n`;
  await writeFile(script, imports + code);
  const child = spawn(process.execPath, [script], { stdio: ["ignore", "pipe", "pipe"] });
  const { closed } = watchChild(child);
  let printed = "";
  let complaints = "";
  child.stderr.on("data", (chunk) => (complaints += chunk));
  child.stdout.on("data", (chunk) => {
    printed += chunk;
    onOutput(printed, child);
  });
  const { code: ended } = await closed();
  return { code: ended, printed, complaints };
}

const WAITS = `
setInterval(() => {}, 1000);
io.signal.addEventListener("abort", () => io.stdout.write("stopping\\n"));
io.stdout.write("started\\n");
`;

it.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
  "a first %s asks to stop, a second one ends the process",
  async (signal) => {
    const { code, printed } = await running(WAITS, (seen, child) => {
      if (seen.endsWith("started\n") || seen.endsWith("stopping\n")) child.kill(signal);
    });
    expect({ code, printed }).toEqual({ code: 130, printed: "started\nstopping\n" });
  },
);

it("all that was written arrives before the process ends, whatever still runs", async () => {
  const size = 5_000_000;
  const code = `setInterval(() => {}, 1000); io.stdout.write("x".repeat(${size})); await endProcess(3);`;
  const run = await running(code, () => {});
  expect(run.code).toBe(3);
  expect(run.printed).toHaveLength(size);
});

it("a process that has nothing left to do ends by itself, since Node may hang where it is told to exit", async () => {
  const code = `
process.on("beforeExit", () => io.stdout.write("by itself"));
io.stdout.write("done, ");
await endProcess(3);
`;
  expect(await running(code, () => {})).toEqual({ code: 3, printed: "done, by itself", complaints: "" });
});

it.runIf(existsSync("/dev/full"))("output that cannot be written is told, in one line, and is no success", async () => {
  const script = join(await temporaryFolder(), "script.ts");
  const source = `import { processIo } from ${JSON.stringify(FACE)};\nprocessIo(process).stdout.write("a line\\n");\n`;
  await writeFile(script, source);
  const full = await open("/dev/full", "w");
  const child = spawn(process.execPath, [script], { stdio: ["ignore", full.fd, "pipe"] });
  const { closed, output } = watchChild(child);
  const { code } = await closed();
  await full.close();
  expect(code).toBe(2);
  expect(output()).toMatch(/^error: the output cannot be written: ENOSPC[^\n]*\n$/);
});

it("a reader that goes away ends the process quietly", async () => {
  const code = `for (;;) await io.stdout.write("x".repeat(65536));`;
  const run = await running(code, (_seen, child) => child.stdout?.destroy());
  expect(run.code).toBe(0);
});

it("lines that nobody waits for and nobody reads end the process without a word", async () => {
  const code = `
setInterval(() => {}, 1000);
io.signal.addEventListener("abort", () => {
  for (let line = 0; line < 50; line++) io.stdout.write("line\\n");
});
io.stdout.write("started\\n");
`;
  const run = await running(code, (_seen, child) => {
    child.stdout?.once("close", () => child.kill("SIGTERM")).destroy();
  });
  expect(run).toEqual({ code: 0, printed: "started\n", complaints: "" });
});
