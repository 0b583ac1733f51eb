/** A body as far as it is worth keeping: payloads that tell a push in the usual ways are much smaller. */
export interface KeptBody {
  add(chunk: Uint8Array): void;
  /** All of it, or undefined when it was longer. */
  whole(): Buffer | undefined;
}

export function keptBody(maxBytes: number): KeptBody {
  let chunks: Uint8Array[] | undefined = [];
  let size = 0;
  return {
    add(chunk) {
      size += chunk.length;
      if (size > maxBytes) chunks = undefined;
      chunks?.push(chunk);
    },
    whole: () => chunks && Buffer.concat(chunks),
  };
}
