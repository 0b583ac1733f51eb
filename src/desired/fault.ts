import type { Diagnostic } from "../apis/index.ts";
import { type ErrorCode, type ErrorDetails, SlessError } from "../errors/index.ts";

/** What is wrong, before it is known at which manifest it is told. */
export interface Fault {
  readonly code: ErrorCode;
  readonly details: ErrorDetails;
}

/** Where a fault is told; lines and columns start at 1. */
export interface Place {
  readonly file: string;
  readonly line?: number;
  readonly column?: number;
}

export function diagnosticOf(fault: Fault, place: Place): Diagnostic {
  const { message } = new SlessError(fault.code, fault.details);
  return {
    code: fault.code,
    file: place.file,
    ...(place.line !== undefined && { line: place.line }),
    ...(place.column !== undefined && { column: place.column }),
    message,
  };
}
