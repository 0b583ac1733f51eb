import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { loadavg } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { deployNamespaceOf } from "../../src/apis/index.ts";
import type { TestCluster } from "../../test/support/kubernetes/cluster.ts";
import { startControlPlane } from "../../test/support/kubernetes/control-plane.ts";
import type { Figure } from "../figure.ts";
import { changeEveryFunction, generateRepository } from "../generate-repository.ts";
import { startController } from "../kubernetes/measure-sync.ts";
import { userMsOf } from "../process-figures.ts";
import { codeOf } from "./bench-registry.ts";
import type { AppendBench } from "./measure-append.ts";

const run = promisify(execFile);
const LIMIT_MS = 60_000;
/** As the builder makes images. */
const CONCURRENCY = 4;

/**
 * Many functions that one commit changes, on a real API server and a real registry: from the hint to the last Deployment
 * with the digest of its new image. Beside it a bare loop of as many appends and applies.
 */
export async function measureApplied({ host, folder, functions, say }: AppendBench): Promise<Figure[]> {
  await using cluster = await startControlPlane();
  const own = join(folder, "applied");
  await mkdir(own);
  const { first, changed, userMs } = await changeAll(cluster, { host, folder: own, functions, say });
  say("the bare loop");
  const loop = await bareLoop(
    cluster,
    host,
    [1, 2].map((order) => join(own, `deployments-${order}.jsonl`)),
  );
  const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;
  return [
    {
      name: `${functions} functions changed at once, appended and applied`,
      amount: { value: changed.deployedMs / 1_000, unit: "s" },
      baseline: { value: loop.wallMs / 1_000, unit: "s", of: "bare loop" },
      target: { text: "≤ 60 s", met: changed.deployedMs <= LIMIT_MS },
      note:
        `specs applied after ${seconds(changed.appliedMs)}; all of them new: ${seconds(first.deployedMs)}; ` +
        `the loop appends to ${CONCURRENCY} images at a time; load at the end ${loadavg()[0]!.toFixed(1)}; requests: ` +
        Object.entries(changed.counts)
          .map(([kind, count]) => `${count} ${kind}`)
          .join(", "),
    },
    ...userFigures(functions, userMs, loop.userMs),
  ];
}

/** Says more than a clock on a machine that does other work too. */
function userFigures(functions: number, userMs: number | undefined, loopMs: number): Figure[] {
  if (userMs === undefined) return [];
  return [
    {
      name: `${functions} functions changed at once, user CPU of the controller`,
      amount: { value: userMs / 1_000, unit: "s" },
      baseline: { value: loopMs / 1_000, unit: "s", of: "bare loop" },
    },
  ];
}

type Changes = Pick<AppendBench, "host" | "folder" | "functions" | "say">;

async function changeAll(cluster: TestCluster, { host, folder, functions, say }: Changes) {
  const repository = join(folder, "functions.git");
  await generateRepository(repository, functions, { triggers: false });
  const namespace = await cluster.createNamespace("bench");
  await using controller = await startController([cluster.kubeconfig, repository, namespace, folder, host]);
  say(`${functions} functions, applied`);
  const first = await controller.tell({ do: "begin", deployments: functions });
  const before = await imagesOf(cluster, namespace);
  await changeEveryFunction(repository, functions, (name) => Buffer.from(codeOf(name, 2)).toString());
  say(`${functions} functions, changed`);
  const userBefore = await userMsOf(controller.pid);
  const changed = await controller.tell({ do: "hint", deployments: functions });
  const userAfter = await userMsOf(controller.pid);
  checkImages(before, await imagesOf(cluster, namespace), functions);
  const userMs = userBefore === undefined || userAfter === undefined ? undefined : userAfter - userBefore;
  return { first, changed, userMs };
}

interface Deployments {
  readonly items: readonly {
    readonly metadata: { readonly name: string };
    readonly spec: {
      readonly template: { readonly spec: { readonly containers: readonly { readonly image: string }[] } };
    };
  }[];
}

/** What the Deployments of a namespace run, by name. */
async function imagesOf(cluster: TestCluster, namespace: string): Promise<ReadonlyMap<string, string>> {
  const path = `/apis/apps/v1/namespaces/${deployNamespaceOf(namespace)}/deployments`;
  const { body } = await cluster.request("GET", path);
  const { items } = body as Deployments;
  return new Map(items.map(({ metadata, spec }) => [metadata.name, spec.template.spec.containers[0]!.image]));
}

/** @throws Error unless every Deployment runs another image than before, its own, by digest */
function checkImages(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>, count: number): void {
  const changed = [...after].filter(
    ([name, image]) => image !== before.get(name) && /@sha256:[0-9a-f]{64}$/.test(image),
  );
  if (changed.length !== count || new Set(after.values()).size !== count)
    throw new Error(`${changed.length} of ${count} Deployments have a new image of their own`);
}

interface Loop {
  readonly wallMs: number;
  readonly userMs: number;
}

/** What its last pass took, in milliseconds. */
async function bareLoop(cluster: TestCluster, host: string, bodies: readonly string[]): Promise<Loop> {
  const namespace = await cluster.createNamespace("loop");
  const { url, caFile, adminToken } = cluster;
  const script = join(import.meta.dirname, "append-loop.ts");
  const argv = [script, host, url, caFile, adminToken, namespace, String(CONCURRENCY), ...bodies];
  const { stdout } = await run(process.execPath, argv);
  return JSON.parse(stdout) as Loop;
}
