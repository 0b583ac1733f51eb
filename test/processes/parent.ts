// Starts a child with grandchildren, one in a session of its own where that can be had, says so, waits to be killed.
import { openProcessSupervisor, readOutput } from "../../src/processes/index.ts";

const mark = process.env.PARENT_MARK;
const supervisor = await openProcessSupervisor({ folder: process.argv[2]! });
const apart = process.platform === "linux" ? `setsid sh -c 'echo started; sleep 300; : ${mark}' &` : "echo started;";
const child = supervisor.spawn(["/bin/sh", "-c", `(sleep 300; : ${mark}) & ${apart} sleep 300; : ${mark}`], {
  cwd: "/",
  env: { PATH: "/usr/bin:/bin" },
});
await readOutput(child, async (lines) => {
  for (const line of lines) process.stdout.write(`${line}\n`);
});
