/**
 * The least that applying objects can be: a bare loop of server-side applies over undici, with bodies made before. It
 * prints how long it took. Usage: loop-process.ts <url> <CA file> <token> <bodies> <namespace> <concurrency>
 */
import { openApplier, readRecorded, timedWorkers } from "./recorded-applies.ts";

const [url = "", caFile = "", token = "", file = "", namespace = "", concurrency = "8"] = process.argv.slice(2);

const connections = Number(concurrency);
const wanted = await readRecorded(file, namespace);
const applier = await openApplier({ url, caFile, token, connections });
const wallMs = await timedWorkers(wanted, connections, applier.apply);
await applier.close();
process.stdout.write(`${JSON.stringify({ count: wanted.length, wallMs })}\n`);
