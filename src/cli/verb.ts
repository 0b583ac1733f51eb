import type { SettingFlags, Settings } from "../config/index.ts";
import type { Runtime } from "../runtimes/index.ts";
import type { ClientOptions, Plural, SlessClient } from "../server/client.ts";
import type { GitReader } from "../source/index.ts";
import type { BuildSteps } from "./build-steps.ts";
import type { StartCluster } from "./cluster-app.ts";
import type { StartEmbedded } from "./embedded-app.ts";
import type { Io } from "./io.ts";
import type { Style } from "./style.ts";

/** A cluster, and as whom it is asked. */
export interface ClusterAccess {
  /** Path of a kubeconfig. */
  readonly kubeconfig: string;
  /** One of the file's; default its current one. */
  readonly context: string | undefined;
}

/** What a composition root gives the command line. */
export interface CliDeps {
  readonly startEmbedded: StartEmbedded;
  readonly startCluster: StartCluster;
  /** Opens a local repository, bare or not, with the best adapter of this machine. */
  readonly openGitReader: (path: string) => Promise<GitReader>;
  /**
   * Opens the work tree of a repository: its `resolve({})` is what lies there, committed or not.
   * @throws SlessError `repository_unsupported` without git on this machine
   */
  readonly openWorktree: (folder: string) => Promise<GitReader>;
  readonly createClient: (options: ClientOptions) => SlessClient;
  /** A client that reads a cluster itself. @throws SlessError `settings_invalid` when the kubeconfig cannot be used */
  readonly openCluster: (access: ClusterAccess) => Promise<SlessClient>;
  /** The runtimes of `runtimes/` by name, sorted. */
  readonly loadRuntimes: () => Promise<ReadonlyMap<string, Runtime>>;
  /** What containers of builds do. */
  readonly buildSteps: BuildSteps;
  /** Folder that `dev --example` makes its repository from. */
  readonly exampleFolder: string;
  readonly version: string;
}

export interface VerbContext {
  readonly io: Io;
  readonly deps: CliDeps;
  readonly settings: Settings;
  /** Of stdout. */
  readonly style: Style;
  /** Client of the server at the endpoint; made at the first call, closed when the verb ends. */
  client(): SlessClient;
}

/** What a shell may fill in: names are asked of the server. A list of kinds stands for their names. */
export type Completes = "kind" | "name" | "repository" | "runtime" | "secret" | "shell" | readonly Plural[];

export interface OptionRow {
  /** As commander writes it: `-o, --output <format>`. */
  readonly flags: string;
  readonly description: string;
  readonly choices?: readonly string[];
  readonly fallback?: string;
  /** May be given several times: the value is a list. */
  readonly repeated?: boolean;
  /** The verb does not run without it. */
  readonly required?: boolean;
  /** An empty text means something; elsewhere it is what a shell makes of an unset variable, and is refused. */
  readonly mayBeEmpty?: boolean;
  /** The value is a setting and stands above its variable. */
  readonly setting?: keyof SettingFlags;
  readonly completes?: Completes;
}

export interface ArgumentRow {
  /** `<name>` must, `[name]` may be given. */
  readonly name: string;
  readonly description: string;
  readonly completes?: Completes;
}

export interface Example {
  readonly line: string;
  readonly does: string;
}

/**
 * A verb as data. `run` answers the exit code: 0 done or the same, 1 differs or not ready, 2 and above failed; what it
 * throws is told on stderr and ends with 2.
 */
export interface Verb<Options extends object = object> {
  /** One word, or two for one of a group: `secret set`. */
  readonly name: string;
  readonly summary: string;
  readonly arguments?: readonly ArgumentRow[];
  readonly options?: readonly OptionRow[];
  readonly examples: readonly Example[];
  /** The verb ends by itself when `io.signal` aborts; any other is left where it stands. */
  readonly endsOnSignal?: true;
  /** Not for people: no help lists it. */
  readonly hidden?: true;
  run(args: readonly string[], options: Options, context: VerbContext): Promise<number>;
}

/** Verbs of two words by their first one, and what they are about. */
export const GROUPS: Readonly<Record<string, string>> = {
  secret: "Write, list and delete secrets; values go in and never come out",
};

/** Options of every verb that talks to a server. */
export const CLIENT_OPTIONS: readonly OptionRow[] = [
  {
    flags: "-n, --namespace <name>",
    description: "namespace (SLESS_NAMESPACE; default: default)",
    setting: "namespace",
  },
  {
    flags: "--endpoint <url>",
    description: "server (SLESS_ENDPOINT; default: http://127.0.0.1:9090)",
    setting: "endpoint",
  },
  { flags: "--token <token>", description: "bearer token (better: SLESS_API_TOKEN)", setting: "token" },
];

/** Options of verbs that only read: they need no server where there is a cluster. */
export const READ_OPTIONS: readonly OptionRow[] = [
  ...CLIENT_OPTIONS,
  {
    flags: "--kubeconfig <file>",
    description: "read the cluster of this kubeconfig itself, with its rights",
    setting: "kubeconfig",
  },
  {
    flags: "--context <name>",
    description: "the same with this context (default file: KUBECONFIG, ~/.kube/config)",
    setting: "context",
  },
];

/** `repository example`, `repo/example` or just `example`. */
export const REPOSITORY_ARGUMENTS: readonly ArgumentRow[] = [
  { name: "<repository>", description: "name, repository/name, or the word repository", completes: ["repositories"] },
  { name: "[name]", description: "name after that word", completes: "name" },
];
/** `hello`, `job/report` or `job report`, for `workloadNamed`. */
export const workloadArguments = (...plurals: readonly Plural[]): readonly ArgumentRow[] => [
  { name: "<name>", description: "name, kind/name, or a kind", completes: plurals },
  { name: "[name]", description: "name after that kind", completes: "name" },
];
export const OPTIONAL_REPOSITORY_ARGUMENTS: readonly ArgumentRow[] = REPOSITORY_ARGUMENTS.map((row) => ({
  ...row,
  name: row.name.replace("<repository>", "[repository]"),
}));
