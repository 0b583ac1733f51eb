import type { TestProject } from "vitest/node";
import { messageOf } from "../../../src/errors/index.ts";
import { buildServer } from "../../servers/build.ts";
import type { ServerName } from "../../servers/servers.ts";
import { neededServers } from "./needed-servers.ts";
import { ownSharedCluster } from "./shared-cluster.ts";

declare module "vitest" {
  interface ProvidedContext {
    testServers: {
      readonly socket: string;
      /** Those that could not be had, and why. */
      readonly missing: Partial<Record<ServerName, string>>;
    };
  }
}

/** Before the first test: builds the servers that the files of this run need, and offers them a cluster. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const missing: Partial<Record<ServerName, string>> = {};
  for (const name of await neededServers(project.vitest.state.getPaths()))
    await buildServer(name).catch((error: unknown) => {
      missing[name] = messageOf(error);
    });
  const owner = await ownSharedCluster();
  project.provide("testServers", { socket: owner.socket, missing });
  return async () => owner[Symbol.asyncDispose]();
}
