import { type ErrorCode, type ErrorDetails, SlessError } from "../errors/index.ts";

/** What is wrong with one field of a request. */
export interface FieldFault {
  /** `memory_mb`, `env_vars/PORT`; empty for the whole. */
  readonly field: string;
  readonly message: string;
}

/** The manifest that owns an object. */
export interface OwningPlace {
  /** Name of the Repository. */
  readonly repository: string;
  /** Below the repository's root, as far as known. */
  readonly file?: string;
  readonly line?: number;
}

/** A refusal with all of its reasons, for the `details` of the answer. */
export class RefusedRequest extends SlessError {
  readonly reasons: readonly (FieldFault | OwningPlace)[];

  constructor(code: ErrorCode, details: ErrorDetails, reasons: readonly (FieldFault | OwningPlace)[]) {
    super(code, details);
    this.reasons = reasons;
  }
}

const REASONS_MAX = 100;
const SHOWN_MAX = 10;
const FIELD_MAX = 200;
const MESSAGE_MAX = 500;

/** @throws RefusedRequest `invalid_request` when there are faults */
export function refuseFields(faults: readonly FieldFault[]): void {
  if (faults.length === 0) return;
  const reasons = faults.slice(0, REASONS_MAX).map(({ field, message }) => ({
    field: shortened(field, FIELD_MAX),
    message: shortened(message, MESSAGE_MAX),
  }));
  const shown = reasons.slice(0, SHOWN_MAX).map(lineOf);
  const more = faults.length > SHOWN_MAX ? [`and ${faults.length - SHOWN_MAX} more`] : [];
  throw new RefusedRequest("invalid_request", { cause: [...shown, ...more].join("; ") }, reasons);
}

/** A message that begins with the field's name, as it stands there or in quotes, does not say it twice. */
function lineOf({ field, message }: FieldFault): string {
  if (field === "") return message;
  const name = field.slice(field.lastIndexOf("/") + 1);
  const twice = [`${name} `, `${JSON.stringify(name)} `].find((start) => message.startsWith(start));
  return `${field} ${twice === undefined ? message : message.slice(twice.length)}`;
}

function shortened(text: string, limit: number): string {
  return text.length > limit ? `${text.slice(0, limit - 3)}...` : text;
}
