import type { Settings, StoreSettings } from "../config/index.ts";
import type { Reporter } from "../report/index.ts";
import type { RefRequest } from "../source/index.ts";

export interface EmbeddedOptions {
  /** Absolute path of the data folder; made when it is missing. */
  readonly data: string;
  /** 0 = any free port. */
  readonly port: number;
  readonly repository: {
    /** Name of the Repository object. */
    readonly name: string;
    /** Absolute path of a local repository, bare or not. */
    readonly path: string;
    /** Without a field: HEAD. */
    readonly ref: RefRequest;
    /** What lies in the work tree is followed, uncommitted edits too; with a `ref` without a field. Default false. */
    readonly worktree?: boolean;
    /** Folder below the root that is followed, `""` for all. */
    readonly subPath: string;
    readonly namespace: string;
  };
  readonly report: Reporter;
  readonly settings: Settings;
  /** Where sources and images are kept; default: in the data folder. */
  readonly stores?: StoreSettings;
}

/** sless in this process: sync, builds, replicas, gateway and API over the embedded adapters. */
export interface EmbeddedApp {
  /** Where it listens, `http://127.0.0.1:9090`. */
  readonly url: string;
  /** Resolves once the first sync ended (well or not) and every workload is Ready or Failed, every job ended. */
  settled(): Promise<void>;
  /** Stops serving and ends every child process; resolves when nothing is left. Calling it again waits for the same end. */
  close(): Promise<void>;
}

/**
 * @throws SlessError `port_taken`, `data_in_use`, `storage_unavailable`, `registry_denied` before anything was
 *   started
 */
export type StartEmbedded = (options: EmbeddedOptions) => Promise<EmbeddedApp>;
