import { createHash } from "node:crypto";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { Client } from "undici";
import { packArchive } from "../../src/source/index.ts";
import type { BenchContext } from "../bench-context.ts";
import { startDevServer } from "../dev-server.ts";
import type { Figure } from "../figure.ts";
import { median, percentile } from "../statistics.ts";
import { makeVersionedRepository, PYTHON, type VersionedFunction } from "../two-languages.ts";

const CODE_BYTES = 20_000;
const POLL_MS = 2;
/** The old replica ends and the status is written: that is none of the next measurement's work. */
const QUIET_MS = 500;
const JSON_TYPE = { "content-type": "application/json" };

/** The same code under two names, for a function of a repository takes no upload. */
const [PUSHED, UPLOADED] = ["pushed", "uploaded"].map((name): VersionedFunction => ({ ...PYTHON, name, code })) as [
  VersionedFunction,
  VersionedFunction,
];

/** How long a change took, from the start of its command to the first answer of the new code. */
interface Change {
  readonly commandMs: number;
  readonly totalMs: number;
}

/**
 * An upload of a function of 20 kB through REST against a push of the same change, in turns. Each counts from the start
 * of its command, the request or `git push`, to the first answer of the new code: what its user waits for.
 */
export async function measureUploadToAnswer({ folder, pushes: rounds, say }: BenchContext): Promise<Figure[]> {
  const repository = await makeVersionedRepository(folder, [PUSHED]);
  await using server = await startDevServer({ repository: repository.bare, data: join(folder, "data") });
  const http = new Client(server.url);
  const times = { pushed: [] as Change[], uploaded: [] as Change[] };

  async function push(version: number): Promise<void> {
    await repository.commit(PUSHED, version);
    times.pushed.push(await timeChange(http, { subject: PUSHED, version }, () => repository.push()));
    await wait(QUIET_MS);
  }
  async function upload(version: number): Promise<void> {
    const archive = await archiveOf(version);
    times.uploaded.push(await timeChange(http, { subject: UPLOADED, version }, () => send(http, UPLOAD_PATH, archive)));
    await wait(QUIET_MS);
  }
  try {
    await createUploaded(http);
    for (let version = 1; version <= rounds; version += 1) {
      say(`upload to answer: ${version} of ${rounds}`);
      for (const change of version % 2 === 0 ? [push, upload] : [upload, push]) await change(version);
    }
  } finally {
    await http.destroy();
  }
  return [figureOf(times.uploaded, times.pushed)];
}

const COLLECTION = "/v1/namespaces/default";
const UPLOAD_PATH = `${COLLECTION}/functions/${UPLOADED.name}/upload`;

async function createUploaded(http: Client): Promise<void> {
  const { name, runtime } = UPLOADED;
  await send(http, `${COLLECTION}/functions`, JSON.stringify({ name, runtime }), JSON_TYPE);
  const trigger = { name: `${name}-http`, type: "http", function_ref: name };
  await send(http, `${COLLECTION}/triggers`, JSON.stringify(trigger), JSON_TYPE);
  await send(http, UPLOAD_PATH, await archiveOf(0));
  while ((await versionOf(http, UPLOADED)) === undefined) await wait(POLL_MS);
  await wait(QUIET_MS);
}

async function archiveOf(version: number): Promise<Uint8Array> {
  const content = Buffer.from(UPLOADED.code(version));
  return packArchive([{ path: UPLOADED.file, mode: "100644", content }]);
}

async function send(
  http: Client,
  path: string,
  body: string | Uint8Array,
  headers: Record<string, string> = { "content-type": "application/zip" },
): Promise<void> {
  const answer = await http.request({ method: "POST", path, body, headers });
  const text = await answer.body.text();
  if (answer.statusCode >= 300) throw new Error(`POST ${path} answered ${answer.statusCode} ${text}`);
}

async function timeChange(
  http: Client,
  { subject, version }: { subject: VersionedFunction; version: number },
  command: () => Promise<void>,
): Promise<Change> {
  const startedMs = performance.now();
  await command();
  const commandMs = performance.now() - startedMs;
  for (;;) {
    const found = await versionOf(http, subject);
    if (found === undefined) throw new Error(`${subject.name} did not answer during its rollout`);
    if (found === version) return { commandMs, totalMs: performance.now() - startedMs };
    await wait(POLL_MS);
  }
}

/** Undefined while nothing serves. */
async function versionOf(http: Client, { name }: VersionedFunction): Promise<number | undefined> {
  const { statusCode, body } = await http.request({ method: "GET", path: `/fn/default/${name}` });
  const text = await body.text();
  return statusCode === 200 ? (JSON.parse(text) as { version: number }).version : undefined;
}

/** A handler of 20 kB that hardly compresses and is another one in each version. */
function code(version: number): string {
  const start = `${PYTHON.code(version)}\nPADDING = "`;
  return `${start}${noise(version, CODE_BYTES - start.length - 2)}"\n`;
}

function noise(version: number, length: number): string {
  return createHash("shake256", { outputLength: length }).update(String(version)).digest("base64").slice(0, length);
}

function figureOf(uploads: readonly Change[], pushes: readonly Change[]): Figure {
  const [upload, push] = [summaryOf(uploads), summaryOf(pushes)];
  return {
    name: `upload of ${CODE_BYTES / 1000} kB to answer, p50 of ${uploads.length}`,
    amount: { value: upload.p50, unit: "ms" },
    baseline: { value: push.p50, unit: "ms", of: "a push of the same change" },
    target: { text: "ratio ≤ 1", met: upload.p50 <= push.p50 },
    note: `both from the start of their command; p90 ${Math.round(upload.p90)} ms against ${Math.round(push.p90)} ms; from the end of the command ${Math.round(upload.afterMs)} ms against ${Math.round(push.afterMs)} ms`,
  };
}

function summaryOf(changes: readonly Change[]): { p50: number; p90: number; afterMs: number } {
  const totals = changes.map(({ totalMs }) => totalMs);
  const afterMs = median(changes.map(({ commandMs, totalMs }) => totalMs - commandMs));
  return { p50: median(totals), p90: percentile(totals, 90), afterMs };
}
