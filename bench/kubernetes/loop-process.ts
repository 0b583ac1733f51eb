/**
 * The least that applying objects can be: a bare loop of server-side applies over undici, with bodies made before. It
 * prints how long it took. Usage: loop-process.ts <url> <CA file> <token> <bodies> <namespace> <concurrency>
 */
import { readFile } from "node:fs/promises";
import { Pool } from "undici";

const [url = "", caFile = "", token = "", file = "", namespace = "", concurrency = "8"] = process.argv.slice(2);

interface Recorded {
  readonly path: string;
  readonly query: Record<string, string>;
  readonly body: object;
}

const wanted = (await readFile(file, "utf8"))
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as Recorded)
  .map(({ path, query, body }) => ({
    path: `${path.replace(/\/namespaces\/[^/]+/, `/namespaces/${namespace}`)}?${new URLSearchParams(query)}`,
    body: JSON.stringify(body).replace(/"namespace":"[^"]+"/, `"namespace":"${namespace}"`),
  }));
const pool = new Pool(url, {
  connections: Number(concurrency),
  connect: { ca: await readFile(caFile) },
  allowH2: false,
});
const headers = {
  authorization: `Bearer ${token}`,
  "content-type": "application/apply-patch+yaml",
  accept: "application/json",
};

const startMs = performance.now();
let next = 0;
async function worker(): Promise<void> {
  for (let item = wanted[next++]; item; item = wanted[next++]) {
    const { statusCode, body } = await pool.request({ method: "PATCH", headers, ...item });
    const text = await body.text();
    if (statusCode >= 300) throw new Error(`${statusCode} ${text}`);
    JSON.parse(text);
  }
}
await Promise.all(Array.from({ length: Number(concurrency) }, worker));
const wallMs = performance.now() - startMs;
await pool.close();
process.stdout.write(`${JSON.stringify({ count: wanted.length, wallMs })}\n`);
