// Starts a child with a grandchild under a supervisor, says so, and waits to be killed.
import { openProcessSupervisor, readOutput } from "../../src/processes/index.ts";

const mark = process.env.PARENT_MARK;
const supervisor = await openProcessSupervisor({ folder: process.argv[2]! });
const child = supervisor.spawn(["/bin/sh", "-c", `(sleep 300; : ${mark}) & echo started; sleep 300; : ${mark}`], {
  cwd: "/",
  env: { PATH: "/usr/bin:/bin" },
});
await readOutput(child, async (lines) => {
  for (const line of lines) process.stdout.write(`${line}\n`);
});
