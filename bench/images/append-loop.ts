/**
 * The least that a change of many functions can be: a bare loop that appends a layer of code to an image and applies a
 * body made before, one after the other for each function. A first pass of the same kind makes what the second changes;
 * it prints how long the second took, and its user CPU.
 * Usage: append-loop.ts <registry> <API server> <CA file> <token> <namespace> <concurrency> <bodies> <bodies>
 */
import { appendImage, makeLayer } from "../../src/build/layer/index.ts";
import { openApplier, readRecorded, timedWorkers } from "../kubernetes/recorded-applies.ts";
import { codeOf, openClient } from "./bench-registry.ts";

const [host = "", url = "", caFile = "", token = "", namespace = "", concurrency = "4", ...files] =
  process.argv.slice(2);

const connections = Number(concurrency);
const client = openClient(host);
const digest = await client.manifestDigest("base", "1");
if (digest === undefined) throw new Error(`${host} has no base:1`);
const base = { client, host, repository: "base", digest };
const settings = { entrypoint: ["python3"], workingDir: "/sless/image/source", user: "65532", env: {}, labels: {} };
const applier = await openApplier({ url, caFile, token, connections });
let wallMs = 0;
let userMs = 0;
for (const [version, file] of files.entries()) {
  const applies = await readRecorded(file, namespace);
  const items = applies.map((apply) => ({ apply, code: codeOf(apply.name, version) }));
  const before = process.cpuUsage();
  wallMs = await timedWorkers(items, connections, async ({ apply, code }) => {
    const layer = await makeLayer([{ path: "sless/image/source/handler.py", content: code }]);
    const target = { client, repository: `loop-${apply.name}`, tags: [`v${version}`] };
    await appendImage({ base, layers: [layer], settings, target });
    await applier.apply(apply);
  });
  userMs = process.cpuUsage(before).user / 1_000;
}
await applier.close();
await client.close();
process.stdout.write(`${JSON.stringify({ wallMs, userMs })}\n`);
