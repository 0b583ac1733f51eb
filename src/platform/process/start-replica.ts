import { setTimeout } from "node:timers/promises";
import type { Clock } from "../../controller/clock.ts";
import type { Slots } from "../../controller/slots.ts";
import type { Exit, LogFile, ProcessSupervisor, SupervisedProcess } from "../../processes/index.ts";
import type { WorkloadSpec } from "../platform.ts";
import { readPort, waitHealthy } from "./health.ts";
import { logOutput, type OutputLog } from "./output-log.ts";
import { type ImageSource, prepareRun, withDamage } from "./prepare-run.ts";
import { type Environment, memoryBytes, replicaCommand, replicaEnvironment } from "./replica-environment.ts";
import { exitText, failureOf, outOfMemory, StartFault, startFailed } from "./start-fault.ts";
import { stopProcess } from "./stop-process.ts";
import type { Timing } from "./timing.ts";

/** A healthy process. */
export interface Replica {
  readonly name: string;
  readonly origin: string;
  readonly exited: Promise<Exit>;
  /** The last lines of its output, once it is gone. */
  tail(): Promise<string>;
  /** SIGTERM, SIGKILL when that does not help; resolves when it is gone. */
  stop(): Promise<void>;
}

export interface ReplicaDeps extends ImageSource {
  readonly processes: ProcessSupervisor;
  readonly clock: Clock;
  readonly timing: Timing;
  readonly host: string;
  readonly baseEnv: Environment;
  /** Bounds how many processes start at the same time. */
  readonly starts: Slots;
}

/**
 * Starts a process of the image and waits until it is healthy. When `signal` aborts, the process goes at once.
 *
 * @throws StartFault with the last lines of its output; SlessError `secret_missing`, `image_damaged`
 */
export async function startReplica(
  spec: WorkloadSpec,
  name: string,
  log: LogFile,
  deps: ReplicaDeps,
  signal: AbortSignal,
): Promise<Replica> {
  const release = await deps.starts.take();
  try {
    signal.throwIfAborted();
    const { image, secrets } = await prepareRun(spec, deps);
    signal.throwIfAborted();
    const env = replicaEnvironment({ spec, image, base: deps.baseEnv, secrets, host: deps.host });
    const options = { cwd: image.source, env, notify: true, memoryBytes: memoryBytes(spec) };
    const child = deps.processes.spawn(replicaCommand(spec, image), options);
    const output = logOutput(child, { log, name, clock: deps.clock, secrets: Object.values(secrets) });
    const port = await becomeHealthy(child, output, spec, deps, signal).catch(async (error: unknown) => {
      if (signal.aborted) throw error;
      throw new StartFault(await withDamage(failureOf(error), spec, deps));
    });
    return toReplica(name, `http://${deps.host}:${port}`, child, output, deps.timing.killAfterMs);
  } finally {
    release();
  }
}

function toReplica(
  name: string,
  origin: string,
  child: SupervisedProcess,
  output: OutputLog,
  killAfterMs: number,
): Replica {
  return {
    name,
    origin,
    exited: child.exited,
    async tail() {
      await output.written;
      return output.tail();
    },
    stop: () => stopProcess(child, killAfterMs),
  };
}

/** The port, once it answers there. What does not become healthy is dead when this rejects. */
async function becomeHealthy(
  child: SupervisedProcess,
  output: OutputLog,
  spec: WorkloadSpec,
  deps: ReplicaDeps,
  signal: AbortSignal,
): Promise<number> {
  const { startDeadlineMs, healthIntervalMs } = deps.timing;
  const over = new AbortController();
  const stopped = AbortSignal.any([signal, over.signal]);
  const healthy = (async () => {
    const port = await readPort(child.notify!);
    // Without a port it has ended, or is about to say so by its exit or the deadline.
    if (port === undefined) return new Promise<never>(() => undefined);
    await waitHealthy({ host: deps.host, port }, healthIntervalMs, stopped);
    return { port };
  })();
  const exited = child.exited.then((exit) => ({ exit }));
  const deadline = setTimeout(startDeadlineMs, "late" as const, { signal: stopped, ref: false }).catch(
    () => "aborted" as const,
  );
  try {
    const first = await Promise.race([healthy, exited, deadline]);
    if (typeof first === "object" && "port" in first && !signal.aborted) return first.port;
    child.kill("SIGKILL");
    await child.exited;
    await output.written;
    const ended = typeof first === "object" && "exit" in first ? first.exit : undefined;
    const memory = ended && outOfMemory(ended, spec.memoryMB, output.tail());
    if (memory) throw new StartFault(memory);
    const cause = ended
      ? `it ended with ${exitText(ended)} before it was ready`
      : `it was not ready within ${startDeadlineMs / 1000} s`;
    throw startFailed(cause, spec.workload.name, output.tail());
  } finally {
    over.abort();
  }
}
