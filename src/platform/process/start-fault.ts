import { isSlessError, messageOf, SlessError } from "../../errors/index.ts";
import type { Exit } from "../../processes/index.ts";

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
  return { reason: "StartFailed", message: isSlessError(error) ? error.message : messageOf(error) };
}

export function startFailed(cause: string, name: string, tail: string): StartFault {
  const { message } = new SlessError("start_failed", { cause, name });
  return new StartFault({ reason: "StartFailed", message: withTail(message, tail) });
}

export function crashed(exit: Exit, name: string, tail: string): Failure {
  const { message } = new SlessError("crash_loop", { cause: exitText(exit), name });
  return { reason: "CrashLoopBackOff", message: withTail(message, tail) };
}

export function withTail(message: string, tail: string): string {
  return tail === "" ? message : `${message}\n${tail}`;
}

export function exitText(exit: Exit): string {
  if (exit.fault !== undefined) return exit.fault;
  return exit.signal === null ? `exit code ${exit.code}` : `signal ${exit.signal}`;
}
