import { spawn } from "node:child_process";
import { join } from "node:path";
import { onTestFailed, onTestFinished } from "vitest";
import type { Role } from "../../src/cli/index.ts";
import type { LeaseTimes } from "../../src/controller/index.ts";
import { eventually } from "./eventually.ts";
import type { TestCluster } from "./kubernetes/index.ts";
import { watchChild } from "./watched-child.ts";

/** What a test decides about a process beside its environment. */
export interface TestProcessSettings {
  /** Folder of the images that were built; see `folderBuilder`. */
  readonly images: string;
  readonly buildMs: number;
  /** How far its clock is ahead. */
  readonly clockMs: number;
  readonly leaseTimes: LeaseTimes;
}

export interface ClusterProcessOptions {
  /** Name of the pod. */
  readonly name: string;
  readonly data: string;
  /** Of the pod, and so of the lease. */
  readonly namespace: string;
  /** Default: the controller alone. */
  readonly roles?: readonly Role[];
  /** Default: the cluster's. */
  readonly kubeconfig?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly buildMs?: number;
  readonly clockMs?: number;
  /** Default: takeovers take about eight seconds. */
  readonly leaseTimes?: LeaseTimes;
}

/** sless as a pod of the cluster would run it, in a process that may be killed. */
export interface ClusterProcess {
  readonly name: string;
  /** What it wrote so far. */
  output(): string;
  /** Waits until it follows the cluster and candidates for the lead; where it listens. */
  started(): Promise<string>;
  /** Waits until it has the lease. */
  leads(): Promise<void>;
  kill(signal: NodeJS.Signals): Promise<void>;
}

/** A busy machine must not miss them. */
const LEASE_TIMES: LeaseTimes = { leaseMs: 8_000, renewDeadlineMs: 7_000, retryMs: 300 };
const MAIN = join(import.meta.dirname, "cluster-main.ts");

/** Starts it and does not wait; killed when the test ends. */
export function startClusterProcess(cluster: TestCluster, options: ClusterProcessOptions): ClusterProcess {
  const {
    name,
    namespace,
    data,
    roles = ["controller"],
    kubeconfig = cluster.kubeconfig,
    buildMs = 0,
    clockMs = 0,
  } = options;
  const { leaseTimes = LEASE_TIMES } = options;
  const images = join(data, "images");
  const settings: TestProcessSettings = { images, buildMs, clockMs, leaseTimes };
  const child = spawn(process.execPath, [MAIN, ...roles], {
    env: {
      PATH: process.env.PATH ?? "",
      KUBECONFIG: kubeconfig,
      PORT: "0",
      INTERNAL_PORT: "0",
      CONTROLLER_PORT: "0",
      LISTEN_ADDRESS: "127.0.0.1",
      POD_NAMESPACE: namespace,
      POD_NAME: name,
      SLESS_DATA: data,
      SLESS_GIT_NETWORKS: "127.0.0.0/8",
      GATEWAY_URL: "http://127.0.0.1:9", // nobody is there
      LOG_LEVEL: "info",
      LOG_FORMAT: "text",
      TEST_SETTINGS: JSON.stringify(settings),
      ...options.env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const { output, exited } = watchChild(child);
  const kill = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    await exited();
  };
  onTestFinished(() => kill("SIGKILL"));
  onTestFailed(() => console.info(`${name}:\n${output()}`));
  function assertAlive(): void {
    const end = child.exitCode ?? child.signalCode;
    if (end !== null) throw new Error(`${name} ended with ${end}:\n${output()}`);
  }
  return {
    name,
    output,
    async started() {
      const look = () => {
        assertAlive();
        return output();
      };
      const text = await eventually(`${name} has started`, look, (seen) => /started http\S+\n/.test(seen));
      return /started (http\S+)\n/.exec(text)![1]!;
    },
    async leads() {
      const look = () => {
        assertAlive();
        return leaderOf(cluster, namespace);
      };
      await eventually(`${name} leads`, look, (leader) => leader === name);
    },
    kill,
  };
}

/** Name of the pod that has the lease of a namespace. */
export async function leaderOf(cluster: TestCluster, namespace: string): Promise<string | undefined> {
  const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/sless-controller`;
  const { body } = await cluster.request("GET", path);
  return body.spec?.holderIdentity?.split("_")[0];
}
