import { createServer } from "node:http";
import { join } from "node:path";
import { Agent, request } from "undici";
import { inject } from "vitest";
import { messageOf } from "../../../src/errors/index.ts";
import { removeFolder } from "../remove-folder.ts";
import type { TestCluster } from "./cluster.ts";
import { type ClusterAddress, connectCluster } from "./connect-cluster.ts";
import { type RunningControlPlane, startControlPlane } from "./control-plane.ts";
import { makeControlPlaneFolder } from "./control-plane-folder.ts";

/** Starts one control plane, for the first process that asks for it. */
export interface ClusterOwner extends AsyncDisposable {
  /** Where other processes of this machine ask for it. */
  readonly socket: string;
}

/**
 * Owns the cluster that all test files of a run share: it lives in the process that outlives the workers, so it ends
 * with the run, and a run without a test on Kubernetes starts none.
 */
export async function ownSharedCluster(): Promise<ClusterOwner> {
  const folder = await makeControlPlaneFolder();
  const socket = join(folder, "socket");
  let started: Promise<RunningControlPlane> | undefined;
  const server = createServer(async (_request, response) => {
    try {
      started ??= startControlPlane();
      const { address } = await started;
      response.end(JSON.stringify(address));
    } catch (error) {
      response.writeHead(500).end(messageOf(error));
    }
  });
  server.requestTimeout = 0;
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(socket, resolve));
  return {
    socket,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await (await started?.catch(() => undefined))?.stop();
      await removeFolder(folder);
    },
  };
}

let connected: Promise<TestCluster> | undefined;

/**
 * The cluster that all test files of a run share, with controllers and `crds/`; started for the first that asks, in
 * about 4 s. Each test works in namespaces of its own. What all see, such as CRDs, webhooks and nodes, is changed only
 * on a control plane of one's own.
 */
export function testCluster(): Promise<TestCluster> {
  connected ??= askForAddress(inject("testServers").socket).then(connectCluster);
  return connected;
}

async function askForAddress(socket: string): Promise<ClusterAddress> {
  const dispatcher = new Agent({ connect: { socketPath: socket }, headersTimeout: 0, bodyTimeout: 0 });
  try {
    const answer = await request("http://cluster/", { dispatcher });
    const text = await answer.body.text();
    if (answer.statusCode !== 200) throw new Error(text);
    return JSON.parse(text) as ClusterAddress;
  } finally {
    await dispatcher.close();
  }
}
