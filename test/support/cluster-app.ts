import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startCluster } from "../../src/app/cluster/index.ts";
import type { Builder } from "../../src/build/index.ts";
import type { ClusterApp, Role } from "../../src/cli/index.ts";
import { readClusterSettings } from "../../src/config/index.ts";
import { createClient, type SlessClient } from "../../src/server/client.ts";
import { instantBuilder } from "./instant-builder.ts";
import type { TestCluster } from "./kubernetes/index.ts";
import { removeFolder } from "./remove-folder.ts";

export interface TestClusterAppOptions {
  /** Default: all. */
  readonly roles?: readonly Role[];
  readonly env?: Readonly<Record<string, string>>;
  /** Default: `instantBuilder()`. */
  readonly builder?: Builder;
  /** Kept when the app is closed, for another life of it; default a folder of its own. */
  readonly data?: string;
}

export interface TestClusterApp {
  readonly app: ClusterApp;
  /** Of the REST API, as the cluster's admin unless a token is given. */
  client(token?: string): SlessClient;
  close(): Promise<void>;
}

/** sless in this process, as a pod of the cluster would run it, on free loopback ports. */
export async function startClusterApp(
  cluster: TestCluster,
  options: TestClusterAppOptions = {},
): Promise<TestClusterApp> {
  const data = options.data ?? (await mkdtemp(join(tmpdir(), "sless-cluster-")));
  const settings = readClusterSettings({
    KUBECONFIG: cluster.kubeconfig,
    PORT: "0",
    INTERNAL_PORT: "0",
    CONTROLLER_PORT: "0",
    LISTEN_ADDRESS: "127.0.0.1",
    POD_NAMESPACE: "default",
    POD_NAME: `sless-${process.pid}`,
    SLESS_DATA: data,
    SLESS_GIT_NETWORKS: "127.0.0.0/8",
    PATH: process.env.PATH ?? "",
    LOG_LEVEL: "error",
    LOG_FORMAT: "text",
    ...options.env,
  });
  const builder = options.builder ?? instantBuilder();
  const app = await startCluster({
    roles: options.roles ?? ["controller", "api", "gateway"],
    settings,
    openBuilder: () => builder,
  });
  const clients: SlessClient[] = [];
  return {
    app,
    client(token = cluster.adminToken) {
      const client = createClient({ endpoint: app.url, token });
      clients.push(client);
      return client;
    },
    async close() {
      for (const client of clients) await client.close();
      await app.close();
      if (options.data === undefined) await removeFolder(data);
    },
  };
}
