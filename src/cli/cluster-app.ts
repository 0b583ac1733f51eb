import type { ClusterSettings } from "../config/index.ts";

export const ROLES = ["controller", "api", "gateway"] as const;
/** What a process on a cluster does; several may be one process. */
export type Role = (typeof ROLES)[number];

export interface ClusterOptions {
  readonly roles: readonly Role[];
  readonly settings: ClusterSettings;
  /** Gives up a start that waits for the cluster: it rejects then. Later it means nothing. */
  readonly signal?: AbortSignal;
}

/** sless on a cluster, in this process. */
export interface ClusterApp {
  /** Where it listens, `http://0.0.0.0:9090`. */
  readonly url: string;
  /** Of the gateway's port for internal callers; undefined without that role. */
  readonly internalUrl: string | undefined;
  /** Lets what is under way end, lets go of the lease, and resolves when nothing is left to do. */
  close(): Promise<void>;
}

/** @throws SlessError `settings_invalid`, `port_taken`, `storage_unavailable`, `cluster_unavailable` before anything runs */
export type StartCluster = (options: ClusterOptions) => Promise<ClusterApp>;
