import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import type { TestCluster } from "../../test/support/kubernetes/cluster.ts";

const run = promisify(execFile);

/** How long a bare loop takes to apply the recorded bodies into a new namespace, in milliseconds without its start. */
export async function applyLoop(cluster: TestCluster, bodies: string, concurrency: number): Promise<number> {
  const namespace = await cluster.createNamespace("loop");
  const script = join(import.meta.dirname, "loop-process.ts");
  const args = [script, cluster.url, cluster.caFile, cluster.adminToken, bodies, namespace, String(concurrency)];
  const { stdout } = await run(process.execPath, args);
  return (JSON.parse(stdout) as { wallMs: number }).wallMs;
}
