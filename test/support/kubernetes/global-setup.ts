import { readFile } from "node:fs/promises";
import type { TestProject } from "vitest/node";
import { messageOf } from "../../../src/errors/index.ts";
import { buildServers } from "../../servers/build.ts";
import { CONTROL_PLANE_SERVERS, SERVERS, type ServerName } from "../../servers/servers.ts";
import { ownSharedCluster } from "./shared-cluster.ts";

declare module "vitest" {
  interface ProvidedContext {
    testServers: {
      readonly socket: string;
      /** Why no test on Kubernetes can run. */
      readonly missing?: string;
    };
  }
}

/** Before the first test: builds the servers that the files of this run need, and offers them a cluster. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const needed = await neededServers(project.vitest.state.getPaths());
  const missing = await buildServers(needed).then(() => undefined, messageOf);
  const owner = await ownSharedCluster();
  project.provide("testServers", { socket: owner.socket, ...(missing === undefined ? {} : { missing }) });
  return async () => owner[Symbol.asyncDispose]();
}

/** What a test file says that needs servers. */
const NEEDS_SERVERS = /\b(describeOnCluster|describeOnOwnControlPlane|describeWithServers)\(/;

/** By their text: all of a control plane, and what the files name in quotes beside that. */
async function neededServers(testFiles: readonly string[]): Promise<ServerName[]> {
  const texts = await Promise.all(testFiles.map((file) => readFile(file, "utf8")));
  const onKubernetes = texts.filter((text) => NEEDS_SERVERS.test(text));
  if (onKubernetes.length === 0) return [];
  const names = Object.keys(SERVERS) as ServerName[];
  const named = names.filter((name) => onKubernetes.some((text) => text.includes(`"${name}"`)));
  return [...new Set([...CONTROL_PLANE_SERVERS, ...named])];
}
