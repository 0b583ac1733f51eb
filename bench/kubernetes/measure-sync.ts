import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { TestCluster } from "../../test/support/kubernetes/cluster.ts";
import { changeNoFunction, changeOneFunction, generateRepository } from "../generate-repository.ts";
import { memoryOf } from "../process-figures.ts";
import type { Done, Order } from "./orders.ts";

/** What one controller did with a repository of many functions, from nothing on. */
export interface SyncRound {
  /** File with what it applied first. */
  readonly bodies: string;
  readonly first: Done;
  /** After a commit that changes one function. */
  readonly changed: Done;
  /** After one that changes none. */
  readonly unchanged: Done;
  /** A hint without a commit. */
  readonly idle: Done;
  readonly residentMB: number | undefined;
}

export async function measureSync(cluster: TestCluster, folder: string, count: number): Promise<SyncRound> {
  const repository = join(folder, "functions.git");
  await generateRepository(repository, count, { triggers: false });
  const namespace = await cluster.createNamespace("bench");
  const script = join(import.meta.dirname, "sync-process.ts");
  const child = fork(script, [cluster.kubeconfig, repository, namespace, folder]);
  try {
    await once(child, "message");
    const first = await tell(child, "begin");
    await changeOneFunction(repository, 1);
    const changed = await tell(child, "hint");
    await changeNoFunction(repository, 1);
    const unchanged = await tell(child, "hint");
    const idle = await tell(child, "hint");
    const memory = await memoryOf(child.pid!);
    return { bodies: join(folder, "bodies.jsonl"), first, changed, unchanged, idle, residentMB: memory?.residentMB };
  } finally {
    child.kill();
    await once(child, "exit");
  }
}

async function tell(child: ChildProcess, order: Order): Promise<Done> {
  child.send(order);
  const exited = once(child, "exit").then(() => Promise.reject(new Error("the controller ended")));
  const [done] = (await Promise.race([once(child, "message"), exited])) as [Done];
  exited.catch(() => {});
  return done;
}
