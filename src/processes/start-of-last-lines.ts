import type { FileHandle } from "node:fs/promises";

const BLOCK_BYTES = 64 * 1024;
const NEWLINE = 10;

/** Where the last `wanted` lines of a file begin, and how many lines stand from there on; reads backwards. */
export async function startOfLastLines(file: FileHandle, wanted: number): Promise<{ offset: number; lines: number }> {
  const { size } = await file.stat();
  if (wanted <= 0 || size === 0) return { offset: size, lines: 0 };
  let lines = 1; // the one that ends, with or without a newline, where the file ends
  for (let end = size; end > 0; end -= BLOCK_BYTES) {
    const start = Math.max(0, end - BLOCK_BYTES);
    const block = Buffer.alloc(end - start);
    await file.read(block, 0, block.length, start);
    for (let at = block.length - 1; at >= 0; at--) {
      if (block[at] !== NEWLINE || start + at === size - 1) continue;
      if (lines === wanted) return { offset: start + at + 1, lines };
      lines++;
    }
  }
  return { offset: 0, lines };
}
