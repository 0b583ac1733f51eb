import type { Clock } from "../../controller/clock.ts";
import { type LogFile, lastLines, readOutput, type SupervisedProcess } from "../../processes/index.ts";
import { withoutSecrets } from "../without-secrets.ts";

export interface OutputLog {
  /** The last lines, without the values of secrets: they may end up in a status. */
  tail(): string;
  /** Resolves when all output is in the log. */
  readonly written: Promise<void>;
}

/** Takes a child's output into the workload's log, each line with its time and the name of its replica. */
export function logOutput(
  child: SupervisedProcess,
  to: { readonly log: LogFile; readonly name: string; readonly clock: Clock; readonly secrets: readonly string[] },
): OutputLog {
  const last = lastLines();
  async function write(lines: readonly Uint8Array[]): Promise<void> {
    if (lines.length === 0) return;
    const prefix = Buffer.from(`${to.clock.now().toISOString()} ${to.name} `);
    const newline = Buffer.from("\n");
    await to.log.append(Buffer.concat(lines.flatMap((line) => [prefix, line, newline])));
  }
  const read = readOutput(child, async (lines) => {
    await write(lines);
    for (const line of lines.slice(-50)) last.push(line);
  });
  return { tail: () => withoutSecrets(last.text(), to.secrets), written: read.then(() => noteKill(child, write)) };
}

/** What is killed cannot say so itself. */
async function noteKill(child: SupervisedProcess, write: (lines: Uint8Array[]) => Promise<void>): Promise<void> {
  const { exceededBytes } = await child.exited;
  if (exceededBytes === undefined) return;
  const used = Math.ceil(exceededBytes / 1024 / 1024);
  await write([Buffer.from(`sless: out of memory: it used ${used} MiB, more than its memoryMB, and was ended`)]);
}
