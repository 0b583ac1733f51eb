/** Longest message of a job that failed, in bytes of UTF-8; also what the status of a pod holds of a result. */
export const MESSAGE_MAX_BYTES = 4_096;
/** Longest result of a job that a status is given, in bytes of UTF-8. */
export const RESULT_MAX_BYTES = 65_536;

/** Longest message of a job in a list of jobs, in bytes of UTF-8. */
export const LISTED_MAX_BYTES = 1_024;

/** The first bytes of a text of `totalBytes`, within the limit; what was cut off is said, and no character is cut in two. */
export function truncateMessage(text: string | Uint8Array, totalBytes: number = Buffer.byteLength(text)): string {
  return truncated(text, { totalBytes, maxBytes: MESSAGE_MAX_BYTES, more: "" });
}

/** The same for a result, of which the runtime puts everything into the log. */
export function truncateResult(text: string | Uint8Array, totalBytes: number = Buffer.byteLength(text)): string {
  return truncated(text, { totalBytes, maxBytes: RESULT_MAX_BYTES, more: "; see the log" });
}

/** The same of what a status holds, whole or cut itself, for a list of jobs. */
export function truncateListed(message: string): string {
  const totalBytes = Number(CUT_BEFORE.exec(message)?.[1] ?? Buffer.byteLength(message));
  return truncated(message, { totalBytes, maxBytes: LISTED_MAX_BYTES, more: "; get the job itself for more" });
}

const CUT_BEFORE = /… \(truncated, (\d{4,15}) bytes in all(?:; see the log)?\)$/;

interface Limits {
  readonly totalBytes: number;
  readonly maxBytes: number;
  readonly more: string;
}

function truncated(text: string | Uint8Array, { totalBytes, maxBytes, more }: Limits): string {
  const bytes = asText(text);
  if (Math.max(totalBytes, bytes.length) <= maxBytes) return bytes.toString("utf8");
  const mark = `… (truncated, ${totalBytes} bytes in all${more})`;
  let end = maxBytes - Buffer.byteLength(mark);
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end--;
  return bytes.subarray(0, end).toString("utf8") + mark;
}

/** What is no UTF-8 takes more room once it is text. */
function asText(text: string | Uint8Array): Buffer {
  return Buffer.from(typeof text === "string" ? text : Buffer.from(text).toString("utf8"));
}

/** How many bytes a result has of which a runtime says, in the file for the pod's status, that it was cut; else undefined. */
export function cutResultBytes(message: string): number | undefined {
  const [, digits] = CUT.exec(message) ?? [];
  const size = Buffer.byteLength(message);
  // A cut one fills the file but for a part of a character.
  if (digits === undefined || size > MESSAGE_MAX_BYTES || size < MESSAGE_MAX_BYTES - 3) return undefined;
  const total = Number(digits);
  return total > MESSAGE_MAX_BYTES ? total : undefined;
}

/** What such a message holds of the result. */
export function headOfCut(message: string): string {
  return message.replace(CUT, "");
}

const CUT = /… \(truncated, (\d{4,15}) bytes in all; see the log\)$/;
