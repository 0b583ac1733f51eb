/** Longest message of a job, in bytes of UTF-8. */
export const MESSAGE_MAX_BYTES = 4_096;

/** The first bytes of a text of `totalBytes`, within the limit; what was cut off is said, and no character is cut in two. */
export function truncateMessage(text: string | Uint8Array, totalBytes: number = Buffer.byteLength(text)): string {
  const bytes = Buffer.from(text);
  if (totalBytes <= MESSAGE_MAX_BYTES) return bytes.toString("utf8");
  const mark = `… (truncated, ${totalBytes} bytes in all)`;
  let end = MESSAGE_MAX_BYTES - Buffer.byteLength(mark);
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end--;
  return bytes.subarray(0, end).toString("utf8") + mark;
}
