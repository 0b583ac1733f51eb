import { spawn } from "node:child_process";
import { parse } from "node:path";

export interface GroupRun {
  /** Undefined when a signal ended it. */
  readonly code: number | undefined;
  /** The end of it. */
  readonly stderr: string;
}

const STDERR_KEPT = 8_000;

/**
 * Runs git in a process group of its own; when the signal aborts, the whole group is killed. Resolves once all of it has
 * ended, whatever its result. Arguments must be checked before.
 *
 * @throws the signal's reason; Error when git cannot be started
 */
export async function runInGroup(
  git: string,
  args: readonly string[],
  { env, signal }: { readonly env: Readonly<Record<string, string>>; readonly signal: AbortSignal },
): Promise<GroupRun> {
  signal.throwIfAborted();
  const child = spawn(git, [...args], {
    cwd: parse(git).root,
    env,
    detached: true,
    stdio: ["ignore", "ignore", "pipe"],
  });
  const kill = () => {
    try {
      process.kill(-child.pid!, "SIGKILL");
    } catch {
      // Nothing is left of it.
    }
  };
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr = (stderr + text).slice(-STDERR_KEPT);
  });
  signal.addEventListener("abort", kill, { once: true });
  try {
    const code = await new Promise<number | undefined>((resolve, reject) => {
      child.once("error", reject);
      child.once("exit", kill); // what it started itself
      child.once("close", (exit) => resolve(exit ?? undefined));
    });
    signal.throwIfAborted();
    return { code, stderr };
  } finally {
    signal.removeEventListener("abort", kill);
  }
}
