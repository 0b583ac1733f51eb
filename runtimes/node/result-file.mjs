/** Where the result of a run goes: into a file, and what that does not hold into the log. docs/runtimes.md has the lines. */
import { createHash } from "node:crypto";
import { closeSync, openSync, renameSync, writeSync } from "node:fs";
import { writeAll } from "./settings.mjs";

/** Bytes of a line's part: with what stands around it, a pipe takes the line as a whole. */
const PART_BYTES = 2970;

/** Takes the result in pieces; `end` puts it where it belongs. */
export function openResult({ resultFile, resultMax, resultCopy }) {
  return resultMax === undefined ? wholeResult(resultFile) : cutResult(resultFile, resultMax, resultCopy);
}

/** All of it or nothing. */
function wholeResult(path) {
  const file = path === undefined ? undefined : openSync(`${path}.part`, "w");
  return {
    write(bytes) {
      if (file !== undefined) writeFully(file, bytes);
    },
    end() {
      if (file === undefined) return;
      closeSync(file);
      renameSync(`${path}.part`, path);
    },
  };
}

/** For a file that holds so much and cannot be replaced. A longer result says that it was cut, and stands whole in the log. */
function cutResult(path, max, copy) {
  const kept = Math.max(max + 1, copy);
  let head = Buffer.alloc(0);
  let total = 0;
  return {
    write(bytes) {
      const before = total;
      total += bytes.length;
      if (total > max) {
        if (before <= max) writeAll(head);
        writeAll(bytes);
      }
      if (head.length < kept) head = Buffer.concat([head, bytes.subarray(0, kept - head.length)]);
    },
    end() {
      if (total > max) writeAll("\n");
      const file = openSync(path ?? "/dev/null", "w");
      writeFully(file, total > max ? cut(head, max, total) : head);
      closeSync(file);
      if (total > max) writeCopy(head.subarray(0, copy));
    },
  };
}

/** No character is cut in two. */
function cut(bytes, max, total) {
  const mark = Buffer.from(`… (truncated, ${total} bytes in all; see the log)`);
  let end = Math.max(0, max - mark.length);
  while (end > 0 && (bytes[end] & 0xc0) === 0x80) end--;
  return Buffer.concat([bytes.subarray(0, end), mark]);
}

/** The result once more, for who reads it back: whatever else is printed meanwhile stands between the lines, never in one. */
function writeCopy(bytes) {
  const id = createHash("sha256").update(bytes).digest("hex").slice(0, 16);
  const count = Math.ceil(bytes.length / PART_BYTES);
  for (let n = 1; n <= count; n++) {
    const part = bytes.subarray((n - 1) * PART_BYTES, n * PART_BYTES);
    writeAll(`sless-result ${id} ${n}/${count} ${part.toString("base64")}\n`);
  }
}

function writeFully(file, bytes) {
  for (let rest = bytes; rest.length > 0; ) rest = rest.subarray(writeSync(file, rest));
}
