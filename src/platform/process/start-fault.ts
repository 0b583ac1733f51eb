import { isSlessError, messageOf, SlessError } from "../../errors/index.ts";
import type { Exit } from "../../processes/index.ts";
import type { WorkloadSpec } from "../platform.ts";

const MIB = 1024 * 1024;

export interface Failure {
  /** CamelCase, for a condition. */
  readonly reason: string;
  readonly message: string;
}

/** Why something did not start or did not stay, with the last lines of its output. */
export class StartFault extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.name = "StartFault";
    this.failure = failure;
  }
}

export function failureOf(error: unknown): Failure {
  if (error instanceof StartFault) return error.failure;
  if (isSlessError(error, "secret_missing")) return { reason: "SecretMissing", message: error.message };
  if (isSlessError(error, "image_damaged")) return { reason: "ImageDamaged", message: error.message };
  return { reason: "StartFailed", message: isSlessError(error) ? error.message : messageOf(error) };
}

/** What V8 and Go write when a heap cannot grow any more; both end themselves then. */
const HEAP_EXHAUSTED = /heap out of memory|runtime: out of memory/;

/**
 * It used more memory than it may: killed for it, or ended by its own runtime; undefined for every other end.
 *
 * @param tail the last lines of its output
 */
export function outOfMemory(exit: Exit, memoryMB: number, tail: string): Failure | undefined {
  const isHeap = exit.code !== 0 && HEAP_EXHAUSTED.test(tail);
  if (exit.exceededBytes === undefined && !isHeap) return undefined;
  const used = exit.exceededBytes === undefined ? "its whole heap" : `${Math.ceil(exit.exceededBytes / MIB)} MiB`;
  const { message } = new SlessError("out_of_memory", { used, limit: memoryMB });
  return { reason: "OutOfMemory", message: withTail(message, tail) };
}

export function startFailed(cause: string, name: string, tail: string): StartFault {
  const { message } = new SlessError("start_failed", { cause, name });
  return new StartFault({ reason: "StartFailed", message: withTail(message, tail) });
}

/** From so many failures in a row on it is a loop. */
const LOOP_FAILURES = 3;

/** @param failures in a row, this one included */
export function crashed(exit: Exit, { workload, memoryMB }: WorkloadSpec, tail: string, failures: number): Failure {
  const memory = outOfMemory(exit, memoryMB, tail);
  if (memory) return memory;
  const isLoop = failures >= LOOP_FAILURES;
  const { message } = new SlessError(isLoop ? "crash_loop" : "crashed", {
    cause: exitText(exit),
    name: workload.name,
  });
  return { reason: isLoop ? "CrashLoopBackOff" : "Crashed", message: withTail(message, tail) };
}

export function withTail(message: string, tail: string): string {
  return tail === "" ? message : `${message}\n${tail}`;
}

export function exitText(exit: Exit): string {
  if (exit.fault !== undefined) return exit.fault;
  return exit.signal === null ? `exit code ${exit.code}` : `signal ${exit.signal}`;
}
