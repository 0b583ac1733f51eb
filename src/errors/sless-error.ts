import { ERRORS, type ErrorCode, type ErrorRow } from "./table.ts";

export type ErrorDetails = Readonly<Record<string, string | number>>;

/**
 * An error with a row in the table. `message` says what happened and what to do, both filled from `details`.
 * Credentials must be out of the details before the error is made.
 */
export class SlessError extends Error {
  readonly code: ErrorCode;
  readonly details: ErrorDetails;
  readonly happened: string;
  readonly remedy: string;

  constructor(code: ErrorCode, details: ErrorDetails = {}, options?: { cause?: unknown }) {
    const row: ErrorRow = ERRORS[code];
    const happened = fill(row.happened, details);
    const remedy = fill(row.remedy, details);
    super(`${happened} ${remedy}`, options);
    this.name = "SlessError";
    this.code = code;
    this.details = details;
    this.happened = happened;
    this.remedy = remedy;
  }

  get status(): number {
    return ERRORS[this.code].status;
  }

  get consequence(): ErrorRow["consequence"] {
    return ERRORS[this.code].consequence;
  }
}

function fill(template: string, details: ErrorDetails): string {
  const filled = template.replaceAll(/\{(\w+)\}/g, (whole, name: string) =>
    name in details ? String(details[name]) : whole,
  );
  // A cause often ends with a full stop or a question of its own.
  return filled.replace(/([.?])\.$/, "$1");
}

export function isSlessError(error: unknown, code?: ErrorCode): error is SlessError {
  return error instanceof SlessError && (code === undefined || error.code === code);
}

/** The error whose `code` and `details` another process told; undefined for what is none of ours. */
export function slessErrorOf(told: unknown): SlessError | undefined {
  const { code, details } = (told ?? {}) as { code?: unknown; details?: unknown };
  if (typeof code !== "string" || !Object.hasOwn(ERRORS, code)) return undefined;
  return new SlessError(code as ErrorCode, details && typeof details === "object" ? (details as ErrorDetails) : {});
}

/** The message of anything thrown, for `cause` details. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
