import { join } from "node:path";
import { onTestFinished } from "vitest";
import { type GitReader, networkPolicy, openRemoteRepositories } from "../../../src/source/index.ts";
import { type GitHttpServer, type GitHttpServerOptions, gitHttpServer } from "../../support/git-http-server.ts";
import {
  type Files,
  type GitRepository,
  type GitRepositoryOptions,
  gitRepository,
} from "../../support/git-repository.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import type { Adapter } from "./adapters.ts";

export type Secrets = Record<string, Record<string, string>>;

export interface RemoteWorldOptions extends GitHttpServerOptions {
  readonly repository?: GitRepositoryOptions;
  /** By `<namespace>/<name>`. */
  readonly secrets?: Secrets;
  readonly allowed?: readonly string[];
  readonly maxBytes?: number;
}

/** A bare repository, a server before it, and mirrors of it. */
export async function remoteWorld(adapter: Adapter, files: Files, options: RemoteWorldOptions = {}) {
  const repository: GitRepository = await gitRepository(files, { bare: true, ...options.repository });
  const server: GitHttpServer = await gitHttpServer(repository.dir, options);
  const folder = join(await temporaryFolder(), "mirrors");
  const secrets = options.secrets ?? {};
  const { maxBytes } = options;
  const open = () =>
    openRemoteRepositories({
      folder,
      readSecret: async (namespace, name, key) => secrets[`${namespace}/${name}`]?.[key],
      policy: networkPolicy(options.allowed ?? ["127.0.0.0/8"]),
      fetcher: adapter.fetcher,
      openReader: adapter.openReader,
      ...(maxBytes === undefined ? {} : { maxBytes }),
    });
  const repositories = await open();
  return {
    repository,
    server,
    folder,
    repositories,
    /** As the next process does. */
    reopen: open,
    async reader(address: { url?: string; namespace?: string; secret?: string } = {}): Promise<GitReader> {
      const reader = await repositories.open({ namespace: "demo", url: server.url, ...address });
      onTestFinished(() => reader.close());
      return reader;
    },
  };
}

/** Path → text of all files of a commit. */
export async function filesOf(reader: GitReader, tree: string, prefix = ""): Promise<Record<string, string>> {
  const entries = (await reader.trees([tree])).get(tree)!;
  const files: Record<string, string> = {};
  for (const { name, mode, id } of entries) {
    if (mode === "40000") Object.assign(files, await filesOf(reader, id, `${prefix}${name}/`));
    else files[prefix + name] = Buffer.from((await reader.blobs([id])).get(id)!).toString();
  }
  return files;
}
