import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { runCommand } from "../../../src/build/local/run-command.ts";
import { type LogFile, logFile, openProcessSupervisor } from "../../../src/processes/index.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

it("a command that nobody wants any more by the time it starts is killed", async () => {
  const folder = await temporaryFolder();
  const processes = await openProcessSupervisor({ folder: join(folder, "processes") });
  onTestFinished(() => processes.close());
  const stop = new AbortController();
  const log = logFile(join(folder, "log"), { maxBytes: 1_000, whenFull: "stop" });
  const stopping: LogFile = {
    ...log,
    async append(bytes) {
      await log.append(bytes);
      stop.abort(new Error("nobody wants it"));
    },
  };
  const runtime = { name: "shell", interpreter: { install: "nothing" } };
  const command = { command: ["sleep", "300"], cwd: folder, env: { PATH: "/usr/bin:/bin" }, runtime };
  const running = runCommand(command, stopping, { processes, deadlineMs: 600_000 }, stop.signal);
  await expect(running).rejects.toThrow("nobody wants it");
});
