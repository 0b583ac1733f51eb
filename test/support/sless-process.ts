import { spawn } from "node:child_process";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { AnyObject, Kind } from "../../src/apis/index.ts";
import { isSettled } from "../../src/app/settled.ts";
import type { ResourceStore } from "../../src/resources/index.ts";
import { createClient, type Plural, type SlessClient } from "../../src/server/client.ts";
import { eventually } from "./eventually.ts";
import { freePort } from "./free-ports.ts";
import { processesWith } from "./process-tree.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { type ChildEnd, watchChild } from "./watched-child.ts";

const SLESS = join(import.meta.dirname, "../../src/app/sless.ts");
const NAMESPACE = { namespace: "default" };
export const PLURAL_OF: Record<Kind, Plural> = {
  Function: "functions",
  Service: "services",
  FunctionJob: "jobs",
  Trigger: "triggers",
  Repository: "repositories",
};

export interface SlessProcessOptions {
  readonly data: string;
  /** Default: a free one. */
  readonly port?: number;
  readonly ref?: string;
  /** Beyond PATH and HOME. */
  readonly env?: Readonly<Record<string, string>>;
}

/** `sless dev` in a process of its own. */
export interface SlessProcess {
  readonly pid: number;
  readonly url: string;
  readonly data: string;
  readonly client: SlessClient;
  /** What it wrote so far to stdout and stderr. */
  output(): string;
  /** Waits until its controllers run. */
  ready(): Promise<void>;
  /** Waits until it attempted this commit and every workload has come to an end. */
  settled(commit: string): Promise<void>;
  objects(): Promise<AnyObject[]>;
  kill(signal: NodeJS.Signals): void;
  /** Waits for its end, and for its last words. */
  exited(): Promise<ChildEnd>;
}

/** Starts it and does not wait; killed when the test ends. */
export async function startSless(repository: string, options: SlessProcessOptions): Promise<SlessProcess> {
  const { data, port = await freePort(), ref = "main", env } = options;
  const args = ["dev", "--repo", repository, "--ref", ref, "--data", data, "--port", String(port)];
  const child = spawn(process.execPath, [SLESS, ...args], {
    cwd: join(data, ".."),
    env: { PATH: process.env.PATH ?? "", HOME: await temporaryFolder(), NO_COLOR: "1", LOG_LEVEL: "error", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const { output, closed } = watchChild(child);
  const url = `http://127.0.0.1:${port}`;
  const client = createClient({ endpoint: url });
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await closed();
    await client.close();
  });

  function assertAlive(): void {
    const end = child.exitCode ?? child.signalCode;
    if (end !== null) throw new Error(`sless ended with ${end}:\n${output()}`);
  }
  /** Undefined while it does not answer. */
  async function attempt<T>(read: () => Promise<T>): Promise<T | undefined> {
    assertAlive();
    return read().catch(() => undefined);
  }
  async function objects(): Promise<AnyObject[]> {
    return (await Promise.all(Object.values(PLURAL_OF).map((plural) => client.listObjects(plural, NAMESPACE)))).flat();
  }
  /** What is there of workloads and repositories, when it is the end for this commit. */
  async function look(commit: string): Promise<{ isDone: boolean; seen: unknown }> {
    const store = { list: async (kind: Kind) => ({ items: await client.listObjects(PLURAL_OF[kind], NAMESPACE) }) };
    const all = await objects();
    const seen = all.map(({ kind, metadata, status }) => ({ kind, name: metadata.name, status }));
    const isAttempted = all.some(({ status }) => attemptedBy(status) === `main@sha1:${commit}`);
    return { isDone: isAttempted && (await isSettled(store as unknown as ResourceStore, "default")), seen };
  }
  return {
    pid: child.pid!,
    url,
    data,
    client,
    exited: closed,
    objects,
    output,
    kill: (signal) => void child.kill(signal),
    async ready() {
      const probe = async () => (await attempt(() => fetch(`${url}/readyz`)))?.status;
      await eventually("sless is ready", probe, (status) => status === 200);
    },
    async settled(commit) {
      const read = () => attempt(() => look(commit));
      await eventually(`everything of ${commit} ended`, read, (seen) => seen?.isDone === true);
    },
  };
}

function attemptedBy(status: AnyObject["status"]): unknown {
  return (status as { lastAttemptedRevision?: unknown } | undefined)?.lastAttemptedRevision;
}

/** Every process that the server started: its children, and the groups that it wrote down. */
export async function childrenOf({ pid, data }: Pick<SlessProcess, "pid" | "data">): Promise<number[]> {
  const recorded = await readdir(join(data, "processes")).catch(() => []);
  return [...new Set([...processesWith("", pid), ...recorded.map(Number)])];
}

/** Waits until none of these processes lives. */
export async function allGone(pids: readonly number[]): Promise<void> {
  const living = () => processesWith("").filter((pid) => pids.includes(pid));
  await eventually("all children are gone", living, (left) => left.length === 0);
}
