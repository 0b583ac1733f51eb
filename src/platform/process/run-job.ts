import { mkdir, open, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { LogFile, SupervisedProcess } from "../../processes/index.ts";
import type { JobRun, JobState } from "../platform.ts";
import { RESULT_MAX_BYTES, truncateMessage, truncateResult } from "../truncate-message.ts";
import { logOutput } from "./output-log.ts";
import { prepareRun, withDamage } from "./prepare-run.ts";
import { jobEnvironment, memoryBytes, replicaCommand } from "./replica-environment.ts";
import { exitText, failureOf, outOfMemory, withTail } from "./start-fault.ts";
import type { ReplicaDeps } from "./start-replica.ts";
import { stopProcess } from "./stop-process.ts";

/** Exit code of a runtime whose handler took too long. */
const EXIT_TIMED_OUT = 75;

export type JobEnd = Pick<Extract<JobState, { phase: "succeeded" | "failed" }>, "phase" | "message">;

interface RunOptions {
  readonly jobName: string;
  readonly files: { readonly event: string; readonly result: string };
  readonly log: LogFile;
  readonly deps: ReplicaDeps;
  readonly signal: AbortSignal;
}

/** Runs a job to its end, whatever that is. Never rejects; undefined when `signal` stopped it before its end. */
export async function runJobProcess(run: JobRun, options: RunOptions): Promise<JobEnd | undefined> {
  try {
    return await runToEnd(run, options);
  } catch (error) {
    if (options.signal.aborted) return undefined;
    const { reason, message } = failureOf(error);
    return failed(reason, message);
  } finally {
    await Promise.all(Object.values(options.files).map((file) => rm(file, { force: true }))).catch(() => undefined);
  }
}

async function runToEnd(run: JobRun, { jobName, files, log, deps, signal }: RunOptions): Promise<JobEnd | undefined> {
  const { image, secrets } = await prepareRun(run.spec, deps);
  await mkdir(dirname(files.event), { recursive: true });
  await writeFile(files.event, run.eventJSON ?? "null", { mode: 0o600 });
  signal.throwIfAborted();
  const env = jobEnvironment({ spec: run.spec, image, base: deps.baseEnv, secrets, host: deps.host }, files);
  const spawnOptions = { cwd: image.source, env, memoryBytes: memoryBytes(run.spec) };
  const child = deps.processes.spawn(replicaCommand(run.spec, image), spawnOptions);
  const output = logOutput(child, { log, name: jobName, clock: deps.clock, secrets: Object.values(secrets) });
  const late = await waitWithin(child, run.spec.timeoutSec, deps, signal);
  const exit = await child.exited;
  await output.written;
  if (late || exit.code === EXIT_TIMED_OUT)
    return failed("TimedOut", withTail(`It did not end within ${run.spec.timeoutSec} s.`, output.tail()));
  if (signal.aborted && exit.code !== 0) return undefined;
  const memory = outOfMemory(exit, run.spec.memoryMB, output.tail());
  if (memory) return failed(memory.reason, memory.message);
  if (exit.code === 0) return { phase: "succeeded", message: await readResult(files.result) };
  const ended = { reason: "Failed", message: withTail(`It ended with ${exitText(exit)}.`, output.tail()) };
  const { reason, message } = await withDamage(ended, run.spec, deps);
  return failed(reason, message);
}

/** Reads no more than a status is given: the file is the handler's, and may be of any size. */
async function readResult(path: string): Promise<string> {
  const file = await open(path, "r").catch(() => undefined);
  if (!file) return "";
  try {
    const { size } = await file.stat();
    const { bytesRead, buffer } = await file.read(Buffer.alloc(RESULT_MAX_BYTES), 0, RESULT_MAX_BYTES, 0);
    return truncateResult(buffer.subarray(0, bytesRead), size);
  } finally {
    await file.close();
  }
}

/** Waits for the end; the runtime itself ends what is late, so this limit is a little longer. True when it was passed. */
async function waitWithin(
  child: SupervisedProcess,
  timeoutSec: number,
  { timing }: ReplicaDeps,
  signal: AbortSignal,
): Promise<boolean> {
  let late = false;
  const stop = () => void stopProcess(child, timing.killAfterMs);
  const limit = () => {
    late = true;
    stop();
  };
  const timer = timeoutSec > 0 ? setTimeout(limit, timeoutSec * 1000 + timing.drainMarginMs) : undefined;
  signal.addEventListener("abort", stop, { once: true });
  await child.exited;
  clearTimeout(timer);
  signal.removeEventListener("abort", stop);
  return late;
}

function failed(reason: string, message: string): JobEnd {
  return { phase: "failed", message: truncateMessage(`${reason}: ${message}`) };
}
