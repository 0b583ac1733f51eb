import { readFile } from "node:fs/promises";
import { Pool } from "undici";

/** A server-side apply that was made once, for another namespace. */
export interface RecordedApply {
  /** Of the object. */
  readonly name: string;
  /** With its query. */
  readonly path: string;
  readonly body: string;
}

interface Recorded {
  readonly path: string;
  readonly query: Record<string, string>;
  readonly body: object;
}

/** @param file of one JSON object a line, as `sync-process.ts` writes them */
export async function readRecorded(file: string, namespace: string): Promise<RecordedApply[]> {
  const lines = (await readFile(file, "utf8")).trim().split("\n");
  return lines.map((line) => {
    const { path, query, body } = JSON.parse(line) as Recorded;
    return {
      name: path.slice(path.lastIndexOf("/") + 1),
      path: `${path.replace(/\/namespaces\/[^/]+/, `/namespaces/${namespace}`)}?${new URLSearchParams(query)}`,
      body: JSON.stringify(body).replace(/"namespace":"[^"]+"/, `"namespace":"${namespace}"`),
    };
  });
}

export interface ApplierOptions {
  readonly url: string;
  readonly caFile: string;
  readonly token: string;
  readonly connections: number;
}

/** Applies over undici and nothing else. */
export async function openApplier({ url, caFile, token, connections }: ApplierOptions) {
  const pool = new Pool(url, { connections, connect: { ca: await readFile(caFile) }, allowH2: false });
  const headers = {
    authorization: `Bearer ${token}`,
    "content-type": "application/apply-patch+yaml",
    accept: "application/json",
  };
  return {
    async apply({ path, body: sent }: RecordedApply): Promise<void> {
      const { statusCode, body } = await pool.request({ method: "PATCH", headers, path, body: sent });
      const text = await body.text();
      if (statusCode >= 300) throw new Error(`${statusCode} ${text}`);
      JSON.parse(text);
    },
    close: () => pool.close(),
  };
}

/** Works through items, so many at a time; answers how long that took, in milliseconds. */
export async function timedWorkers<T>(
  items: readonly T[],
  concurrency: number,
  work: (item: T) => Promise<void>,
): Promise<number> {
  const startMs = performance.now();
  let next = 0;
  async function worker(): Promise<void> {
    while (next < items.length) await work(items[next++]!);
  }
  await Promise.all(Array.from({ length: concurrency }, worker));
  return performance.now() - startMs;
}
