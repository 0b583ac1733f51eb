import { SlessError } from "../errors/index.ts";

/** One object is at most 1.5 MiB in etcd; an event is that as JSON. */
const LINE_MAX_BYTES = 16 * 1024 * 1024;

/**
 * The lines of a stream that are not empty; what stands after the last line break is no line.
 *
 * @throws SlessError `cluster_unavailable` when a line has no end
 */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let parts: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    let rest = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      parts.push(rest.subarray(0, end));
      const line = Buffer.concat(parts).toString("utf8");
      parts = [];
      bytes = 0;
      rest = rest.subarray(end + 1);
      if (line !== "") yield line;
    }
    if (rest.byteLength === 0) continue;
    parts.push(rest);
    bytes += rest.byteLength;
    if (bytes > LINE_MAX_BYTES) throw new SlessError("cluster_unavailable", { cause: "a watch event has no end" });
  }
}
