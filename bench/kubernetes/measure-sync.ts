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
  await using controller = await startController([cluster.kubeconfig, repository, namespace, folder]);
  const { tell } = controller;
  const first = await tell({ do: "begin" });
  await changeOneFunction(repository, 1);
  const changed = await tell({ do: "hint" });
  await changeNoFunction(repository, 1);
  const unchanged = await tell({ do: "hint" });
  const idle = await tell({ do: "hint" });
  const memory = await memoryOf(controller.pid);
  const bodies = join(folder, "functions-1.jsonl");
  return { bodies, first, changed, unchanged, idle, residentMB: memory?.residentMB };
}

export interface Controller extends AsyncDisposable {
  readonly pid: number;
  /** Resolves when all that follows from the order is done. */
  tell(order: Order): Promise<Done>;
}

/** @param argv as `sync-process.ts` wants them */
export async function startController(argv: readonly string[]): Promise<Controller> {
  const child = fork(join(import.meta.dirname, "sync-process.ts"), argv);
  const exited = once(child, "exit");
  await Promise.race([once(child, "message"), exited.then(endedEarly)]);
  return {
    pid: child.pid!,
    tell: (order) => tellChild(child, order),
    async [Symbol.asyncDispose]() {
      child.kill();
      await exited;
    },
  };
}

function endedEarly(): never {
  throw new Error("the controller ended");
}

async function tellChild(child: ChildProcess, order: Order): Promise<Done> {
  child.send(order);
  const exited = once(child, "exit").then(endedEarly);
  const [done] = (await Promise.race([once(child, "message"), exited])) as [Done];
  exited.catch(() => {});
  return done;
}
