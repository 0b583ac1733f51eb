import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Readable } from "node:stream";
import type { ObjectOf } from "../src/apis/index.ts";
import { folderChecks } from "../src/build/local/folder-checks.ts";
import { imageFolders } from "../src/build/local/image-folders.ts";
import type { WorkloadSpec } from "../src/platform/index.ts";
import { readPort, waitHealthy } from "../src/platform/process/health.ts";
import { replicaCommand, replicaEnvironment } from "../src/platform/process/replica-environment.ts";
import { NOTIFY_FD, PARENT_FD } from "../src/processes/index.ts";

const HOST = "127.0.0.1";

export interface FunctionServer extends AsyncDisposable {
  readonly origin: string;
  /** Milliseconds from the start of the process to its first healthy answer. */
  readonly startMs: number;
}

/**
 * Starts the process of a function as the platform does, of the same image and with the same environment, but by
 * itself: nothing waits for it, supervises it or reads what it prints.
 *
 * @param pollMs how often to ask whether it is healthy
 */
export async function startFunctionServer(
  object: ObjectOf<"Function">,
  data: string,
  pollMs: number,
): Promise<FunctionServer> {
  const spec = specOf(object);
  const image = await imageFolders(join(data, "builds", "images"), {
    checks: folderChecks(),
    linked: () => [],
  }).resolve(spec.imageRef.split("sha256:")[1]!);
  if (!image) throw new Error(`${spec.imageRef} is not there`);
  const base = { PATH: process.env.PATH ?? "", HOME: join(data, "home"), LANG: "C.UTF-8" };
  const env = { ...replicaEnvironment({ spec, image, base, secrets: {}, host: HOST }) };
  const [program = "", ...args] = replicaCommand(spec, image);
  const startedMs = performance.now();
  const child = spawn(program, args, { cwd: image.source, env, stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
  const port = await readPort(child.stdio[NOTIFY_FD] as Readable);
  if (port === undefined) throw new Error(`the server of ${spec.workload.name} did not start`);
  await waitHealthy({ host: HOST, port }, pollMs, AbortSignal.timeout(60_000));
  const startMs = performance.now() - startedMs;
  return { origin: `http://${HOST}:${port}`, startMs, [Symbol.asyncDispose]: () => stop(child) };
}

function specOf({ metadata, spec, status }: ObjectOf<"Function">): WorkloadSpec {
  const { namespace, name } = metadata;
  return {
    workload: { kind: "Function", namespace, name },
    imageRef: status?.imageRef ?? "",
    sourceDigest: status?.sourceDigest ?? "",
    entrypoint: spec.entrypoint ?? "",
    memoryMB: spec.memoryMB ?? 0,
    timeoutSec: spec.timeoutSec ?? 0,
    env: spec.env ?? {},
    secretEnv: {},
  };
}

async function stop(child: ChildProcess): Promise<void> {
  const exited = once(child, "exit");
  child.stdio[PARENT_FD]?.destroy();
  child.kill("SIGKILL");
  await exited;
}
