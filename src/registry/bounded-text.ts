/**
 * The text of an answer, or its first part: whoever sends one without end is not listened to any longer.
 *
 * @param maxBytes a little more may be returned
 */
export async function boundedText(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<{ readonly text: string; readonly isWhole: boolean }> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.byteLength;
    if (bytes > maxBytes) return { text: textOf(chunks), isWhole: false };
  }
  return { text: textOf(chunks), isWhole: true };
}

function textOf(chunks: readonly Uint8Array[]): string {
  return Buffer.concat(chunks).toString("utf8");
}
