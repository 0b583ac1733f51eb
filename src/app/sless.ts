/** The composition root of the command line. */
import { join } from "node:path";
import { endProcess, main, processIo } from "../cli/index.ts";
import { loadRuntimes } from "../runtimes/index.ts";
import { createClient } from "../server/client.ts";
import { findGit } from "../source/index.ts";
import { boundHeapGrowth } from "./heap-growth.ts";
import { openLocalReader, openLocalWorktree } from "./open-git-reader.ts";
import { versionOfSless } from "./version-of-sless.ts";

// `sless secret set api token=…`: the list of processes need not show it any longer than it must.
if (process.argv[2] === "secret") process.title = "sless secret";

const root = join(import.meta.dirname, "../..");
const io = processIo(process);
const version = await versionOfSless();

const code = await main(process.argv.slice(2), io, {
  // Loaded when needed: every other verb starts without the server.
  startEmbedded: async (options) => {
    boundHeapGrowth();
    return (await import("./embedded.ts")).startEmbedded(options);
  },
  startCluster: async (options) => {
    boundHeapGrowth();
    return (await import("./cluster/index.ts")).startCluster(options);
  },
  openGitReader: async (repository) => openLocalReader({ repository, git: await findGit(io.env.PATH) }),
  openWorktree: async (folder) => openLocalWorktree({ folder, git: await findGit(io.env.PATH) }),
  createClient,
  openCluster: async (access) => (await import("./cluster-client.ts")).openClusterClient(access),
  loadRuntimes: () => loadRuntimes(join(root, "runtimes")),
  buildSteps: {
    pushImage: async (request) => (await import("./build-steps.ts")).buildSteps.pushImage(request),
    fetchContext: async (request) => (await import("./build-steps.ts")).buildSteps.fetchContext(request),
  },
  exampleFolder: join(root, "example-repo"),
  version,
});
await endProcess(code);
