import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { API_RESOURCES, type ApiObject, apiPath } from "../../src/kubernetes/index.ts";
import { buildServer } from "../servers/build.ts";
import { openCluster } from "./open-cluster.ts";
import { type E2eSettings, readE2eSettings } from "./settings.ts";

/** vitest's global setup: where the settings ask for it, policies are enforced as long as tests run. */
export default async function enforcePolicies(): Promise<(() => Promise<void>) | undefined> {
  const settings = readE2eSettings(process.env);
  const { podNetwork, kubeconfig } = settings;
  if (podNetwork === undefined) return undefined;
  const flags = [`--kubeconfig=${kubeconfig}`, `--pods=${podNetwork}`, `--node=${await onlyNode(settings)}`];
  // It also ends when this process does: its input closes then.
  const enforcer = spawn(await buildServer("network-policies"), flags, { stdio: ["pipe", "pipe", "pipe"] });
  const ended = new Promise((resolve) => enforcer.once("close", resolve));
  const lines: string[] = [];
  createInterface(enforcer.stderr).on("line", (line) => lines.splice(0, lines.length - 20, line));
  const started = new Promise((resolve) => createInterface(enforcer.stdout).once("line", resolve));
  if ((await Promise.race([started, ended])) !== "enforcing")
    throw new Error(`policies are not enforced:\n${lines.join("\n")}`);
  return async () => {
    enforcer.kill();
    await ended;
  };
}

async function onlyNode(settings: E2eSettings): Promise<string> {
  await using cluster = await openCluster(settings);
  const path = apiPath(API_RESOURCES.Node);
  const { items } = await cluster.client.request<{ items: ApiObject[] }>({ method: "GET", path });
  const [node, ...others] = items;
  if (!node || others.length > 0) throw new Error(`E2E_POD_NETWORK is for clusters of one node, not ${items.length}`);
  return node.metadata.name;
}
