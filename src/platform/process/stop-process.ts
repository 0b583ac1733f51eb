import type { SupervisedProcess } from "../../processes/index.ts";

/** SIGTERM, and SIGKILL when the process is still there after `killAfterMs`; resolves when it is gone. */
export async function stopProcess(child: SupervisedProcess, killAfterMs: number): Promise<void> {
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), killAfterMs);
  await child.exited;
  clearTimeout(timer);
}
