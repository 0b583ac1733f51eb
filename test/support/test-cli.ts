import { resolve } from "node:path";
import { type CliDeps, type Io, main } from "../../src/cli/index.ts";
import { loadRuntimes } from "../../src/runtimes/index.ts";
import type { SlessClient } from "../../src/server/client.ts";

const ROOT = resolve(import.meta.dirname, "../..");

export interface CliRun {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface TestCliOptions {
  /** What the client does; a method that is not named fails the verb that calls it. */
  readonly client?: Partial<SlessClient>;
  readonly deps?: Partial<CliDeps>;
  readonly env?: Readonly<Record<string, string>>;
  /** Working folder; default: none that exists. */
  readonly cwd?: string;
  /** Output is a terminal of that many columns. */
  readonly terminal?: number;
  /** Input; with `terminal` somebody types it. */
  readonly stdin?: string;
  readonly signal?: AbortSignal;
  /** Sees output as it is written. */
  onOutput?(text: string): void;
}

/** Runs a command line in this process, with a fake client and captured output. */
export async function testCli(argv: readonly string[], options: TestCliOptions = {}): Promise<CliRun> {
  const written = { stdout: [] as Uint8Array[], stderr: [] as Uint8Array[] };
  const output = (name: "stdout" | "stderr"): Io["stdout"] => ({
    isTTY: options.terminal !== undefined,
    columns: options.terminal,
    write(chunk) {
      written[name].push(Buffer.from(chunk));
      options.onOutput?.(Buffer.from(chunk).toString());
      return undefined;
    },
  });
  const io: Io = {
    stdin: {
      isTTY: options.terminal !== undefined,
      async *[Symbol.asyncIterator]() {
        if (options.stdin !== undefined) yield Buffer.from(options.stdin);
      },
    },
    stdout: output("stdout"),
    stderr: output("stderr"),
    env: options.env ?? {},
    cwd: options.cwd ?? "/nowhere",
    signal: options.signal ?? new AbortController().signal,
  };
  const code = await main(argv, io, { ...testDeps(options.client), ...options.deps });
  const text = (name: "stdout" | "stderr") => Buffer.concat(written[name]).toString("utf8");
  return { code, stdout: text("stdout"), stderr: text("stderr") };
}

function testDeps(client: Partial<SlessClient> = {}): CliDeps {
  const absent = (what: string) => async () => Promise.reject(new Error(`this test has no ${what}`));
  return {
    startCluster: () => Promise.reject(new Error("no cluster here")),
    startEmbedded: absent("embedded app"),
    openGitReader: absent("git reader"),
    openWorktree: absent("work tree"),
    openCluster: async () => {
      throw new Error("the test opens no cluster");
    },
    createClient: () => ({ ...(client as SlessClient), close: async () => {} }),
    loadRuntimes: () => loadRuntimes(resolve(ROOT, "runtimes")),
    buildSteps: { pushImage: absent("registry"), fetchContext: absent("object store") },
    exampleFolder: resolve(ROOT, "example-repo"),
    version: "1.2.3",
  };
}
