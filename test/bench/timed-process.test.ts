import { expect, it } from "vitest";
import { timeProcess } from "../../bench/timed-process.ts";

const BUSY = "const end = process.cpuUsage().user + 200_000; while (process.cpuUsage().user < end);";

it("counts the user time of a process and of its children", async () => {
  const parent = `require("node:child_process").execFileSync(process.execPath, ["-e", ${JSON.stringify(BUSY)}])`;
  const { userMs, wallMs } = await timeProcess({ command: [process.execPath, "-e", parent], env: {}, codes: [0] });
  expect(userMs).toBeGreaterThanOrEqual(200);
  expect(wallMs).toBeGreaterThanOrEqual(200);
});

it("a process that fails is no measurement", async () => {
  const command = [process.execPath, "-e", "process.exit(3)"];
  await expect(timeProcess({ command, env: {}, codes: [0, 1] })).rejects.toThrow("ended with 3");
});
