import { SlessError } from "../../errors/index.ts";
import { gitEnvironment } from "../git-environment.ts";
import type { Fetcher, FetchRequest } from "../remote/index.ts";
import { openBridge } from "./bridge.ts";
import { runInGroup } from "./run-in-group.ts";

/** The first git that takes settings from its environment by number, which hides them from other users. */
export const FETCHES_SINCE = [2, 31] as const;

const SETTINGS = [
  "protocol.version=2",
  "http.followRedirects=false",
  // Every fetch makes a pack, and no other process goes on after it.
  "fetch.unpackLimit=1",
  "gc.auto=0",
  "maintenance.auto=false",
  "gc.autoDetach=false",
  "gc.packRefs=false",
  // Large files are streamed.
  "core.bigFileThreshold=8m",
  "core.hooksPath=/dev/null",
].flatMap((setting) => ["-c", setting]);
const FETCH = ["fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head"];

/** What servers of protocol 2 and of older ones say about a commit that they do not have, or do not give. */
const NOT_THERE = /not our ref|unadvertised object/;

/** Fetches with `git fetch`, which checks that all of a commit came. */
export function nativeFetcher({ git }: { readonly git: string }): Fetcher {
  async function run(mirror: string, args: readonly string[], env: Record<string, string>, signal: AbortSignal) {
    const all = [`--git-dir=${mirror}`, ...SETTINGS, ...args];
    return runInGroup(git, all, { env: { ...gitEnvironment(git), ...env }, signal });
  }

  async function fetch({ mirror, http, commit, signal }: FetchRequest): Promise<void> {
    const bridge = await openBridge(http, signal);
    try {
      const { code, stderr } = await run(
        mirror,
        [...FETCH, bridge.url, commit],
        networkEnvironment(bridge.header),
        signal,
      );
      if (code !== 0 && NOT_THERE.test(stderr))
        throw new SlessError("ref_not_found", { url: mirror, ref: `commit ${commit}` });
      if (code !== 0) throw bridge.failure() ?? toError(mirror, stderr.replaceAll(bridge.url, "it"));
    } finally {
      await bridge.close();
    }
  }

  return {
    fetch,
    async tidy(mirror, signal) {
      const { code, stderr } = await run(mirror, ["gc", "--quiet", "--prune=10.minutes.ago"], {}, signal);
      if (code !== 0) throw toError(mirror, stderr);
    },
  };
}

/** What opens the way to the bridge, and to nothing else. */
function networkEnvironment(header: string): Record<string, string> {
  return {
    GIT_ALLOW_PROTOCOL: "http",
    GIT_CONFIG_COUNT: "2",
    GIT_CONFIG_KEY_0: "safe.directory",
    GIT_CONFIG_VALUE_0: "*",
    GIT_CONFIG_KEY_1: "http.extraHeader",
    GIT_CONFIG_VALUE_1: header,
  };
}

function toError(mirror: string, stderr: string): Error {
  const lines = stderr.split("\n").filter((line) => /^(?:fatal|error|remote): /.test(line));
  const cause = (lines.length > 0 ? lines : stderr.split("\n")).slice(0, 3).join("; ") || "git was killed";
  if (/no space left|disk quota|read-only file system|permission denied/i.test(stderr))
    return new SlessError("storage_unavailable", { what: mirror, cause });
  return new Error(cause.replaceAll(mirror, "the mirror"));
}
