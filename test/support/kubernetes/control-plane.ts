import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { buildServers } from "../../servers/build.ts";
import { CONTROL_PLANE_SERVERS, type ServerName } from "../../servers/servers.ts";
import { eventually } from "../eventually.ts";
import { freePorts } from "../free-ports.ts";
import { removeFolder } from "../remove-folder.ts";
import { readAuditLog, writeAuditPolicy } from "./audit-log.ts";
import type { ControlPlane, ControlPlaneOptions, TestCluster } from "./cluster.ts";
import { type ClusterAddress, connectCluster, podLogFolder } from "./connect-cluster.ts";
import { makeControlPlaneFolder } from "./control-plane-folder.ts";
import { kubeconfig, makeCredentials } from "./credentials.ts";
import { type PodLogServer, servePodLogs } from "./pod-logs.ts";
import { stagesFile } from "./pod-stages.ts";
import { addNodes, installCrds } from "./prepare-cluster.ts";
import {
  apiServerCommand,
  controllerManagerCommand,
  etcdCommand,
  kwokCommand,
  type ServerSettings,
  schedulerCommand,
} from "./server-commands.ts";
import { openServerProcesses, type ServerProcess, type ServerProcesses } from "./server-processes.ts";
import { startTokenWebhook } from "./token-webhook.ts";

/** A control plane, and where other processes find it. */
export type RunningControlPlane = ControlPlane & { readonly address: ClusterAddress };

const API_SERVERS = ["etcd", "kube-apiserver"] as const satisfies readonly ServerName[];

/**
 * Starts the servers of a cluster of one's own; about 3 s without controllers, 5 s with them. They end with `stop`,
 * and with this process in whatever way it ends.
 *
 * @throws Error with the end of the log of the server that failed
 */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<RunningControlPlane> {
  const { controllers = true, crds = true, audit = false, apiServerFlags = [] } = options;
  const programs = await buildServers(controllers ? CONTROL_PLANE_SERVERS : API_SERVERS);
  await using started = new AsyncDisposableStack();
  const folder = await makeControlPlaneFolder();
  started.defer(() => removeFolder(folder));
  const [etcd = 0, etcdPeer = 0, apiServer = 0] = await freePorts(3);
  const address = await makeAddress(folder, `https://127.0.0.1:${apiServer}`);
  const cluster = started.adopt(connectCluster(address), (connected) => connected.close());
  started.use(await serveUserTokens(address));
  const logs = started.adopt(await serveLogs(address, cluster), (server) => server.close());
  const ports = { etcd, etcdPeer, apiServer, podLogs: logs.port };
  const settings: ServerSettings = { folder, ports, audit, apiServerFlags };
  const processes = started.adopt(await openServerProcesses(folder), (opened) => opened.close());

  const servers = coreServers(processes, programs, settings);
  const untilReady = () => apiIsReady(cluster, processes.check);
  servers.etcd.start();
  servers.apiServer.start();
  await untilReady();
  if (controllers) startControllers(processes, programs, settings);
  await Promise.all([crds && installCrds(cluster), controllers && addNodes(cluster, processes.check)]);

  const running = started.move();
  const stop = () => running.disposeAsync();
  return {
    ...cluster,
    ...faults(servers, untilReady),
    address,
    auditLog: () => readAuditLog(folder),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** Makes the files that the servers read. */
async function makeAddress(folder: string, url: string): Promise<ClusterAddress> {
  const credentials = await makeCredentials(folder, url);
  await writeFile(join(folder, "stages.yaml"), stagesFile());
  await writeAuditPolicy(folder);
  return { url, folder, ...credentials };
}

async function serveUserTokens({ folder, userKey }: ClusterAddress): Promise<Disposable> {
  const webhook = await startTokenWebhook(userKey);
  await writeFile(join(folder, "token-webhook.kubeconfig"), kubeconfig(webhook.url));
  return { [Symbol.dispose]: () => webhook.close() };
}

async function serveLogs({ folder }: ClusterAddress, cluster: TestCluster): Promise<PodLogServer> {
  const [cert = "", key = ""] = await Promise.all(
    ["server.crt", "server.key"].map((name) => readFile(join(folder, name), "utf8")),
  );
  const hasEnded = async (namespace: string, pod: string) => {
    const { body } = await cluster.request("GET", `/api/v1/namespaces/${namespace}/pods/${pod}`);
    return !["Pending", "Running"].includes(body.status?.phase);
  };
  return servePodLogs({ folder: podLogFolder(folder), tls: { cert, key }, hasEnded });
}

type Programs = Partial<Record<ServerName, string>>;

interface CoreServers {
  readonly etcd: ServerProcess;
  readonly apiServer: ServerProcess;
}

function coreServers(processes: ServerProcesses, programs: Programs, settings: ServerSettings): CoreServers {
  return {
    etcd: processes.server("etcd", programs.etcd!, etcdCommand(settings)),
    apiServer: processes.server("kube-apiserver", programs["kube-apiserver"]!, apiServerCommand(settings)),
  };
}

function startControllers(processes: ServerProcesses, programs: Programs, settings: ServerSettings): void {
  const commands = {
    "kube-controller-manager": controllerManagerCommand,
    "kube-scheduler": schedulerCommand,
    kwok: kwokCommand,
  };
  for (const [name, command] of Object.entries(commands))
    processes.server(name, programs[name as keyof typeof commands]!, command(settings)).start();
}

async function apiIsReady(cluster: TestCluster, check: () => Promise<void>): Promise<void> {
  // Its own opinion lags behind etcd's end; the namespace is read from etcd.
  const answers = async (path: string) => (await cluster.request("GET", path).catch(() => undefined))?.status === 200;
  const isReady = async () => {
    await check();
    return (await answers("/readyz")) && (await answers("/api/v1/namespaces/default"));
  };
  await eventually("the API server is ready", isReady, (ready) => ready);
}

type Faults = Pick<ControlPlane, "stopApiServer" | "startApiServer" | "restartApiServer" | "stopEtcd" | "startEtcd">;

function faults({ etcd, apiServer }: CoreServers, untilReady: () => Promise<void>): Faults {
  const start = async (server: ServerProcess) => {
    server.start();
    await untilReady();
  };
  return {
    stopApiServer: (signal = "SIGKILL") => apiServer.stop(signal),
    startApiServer: () => start(apiServer),
    async restartApiServer(signal = "SIGKILL") {
      await apiServer.stop(signal);
      await start(apiServer);
    },
    stopEtcd: () => etcd.stop("SIGKILL"),
    startEtcd: () => start(etcd),
  };
}
