import type { Diagnostic } from "../apis/index.ts";
import { type ErrorCode, type ErrorDetails, SlessError } from "../errors/index.ts";
import type { Position } from "./manifest.ts";

/** Faults of one file that are told one by one; of more only the number is. */
const DIAGNOSTICS_MAX = 100;
/** Of a message that quotes what stands there. */
const MESSAGE_MAX = 500;

/** Collects the faults of one file. */
export interface Diagnostics {
  /** Adds a fault whose message is the code's row of the error table. */
  add(code: ErrorCode, offset: number, details: ErrorDetails): void;
  /** Adds a fault with a message of its own, which says what to do. */
  tell(code: ErrorCode, offset: number, message: string): void;
  readonly count: number;
  /** In the order of their places; bounded. */
  list(): Diagnostic[];
}

function cut(message: string): string {
  return message.length > MESSAGE_MAX ? `${message.slice(0, MESSAGE_MAX - 1)}…` : message;
}

export function collectDiagnostics(file: string, placeOf: (offset: number) => Position): Diagnostics {
  const told: { code: ErrorCode; offset: number; message: string }[] = [];
  let count = 0;
  const tell = (code: ErrorCode, offset: number, message: string): void => {
    count += 1;
    if (told.length < DIAGNOSTICS_MAX) told.push({ code, offset, message: cut(message) });
  };
  return {
    tell,
    add: (code, offset, details) => tell(code, offset, new SlessError(code, details).message),
    get count() {
      return count;
    },
    list() {
      const sorted = told.sort((a, b) => a.offset - b.offset);
      const all: Diagnostic[] = sorted.map(({ code, offset, message }) => ({
        code,
        file,
        ...placeOf(offset),
        message,
      }));
      if (count > told.length)
        all.push({ code: "manifest_invalid", file, message: `${count - told.length} more faults in this file` });
      return all;
    },
  };
}
