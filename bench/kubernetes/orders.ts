/** What the benchmark tells the process: to make the Repository, or that there is a new commit. */
export interface Order {
  readonly do: "begin" | "hint";
  /** Writes of Deployments that follow from it, where images are made and so take their time; default: none waited for. */
  readonly deployments?: number;
}

export interface RequestCounts {
  /** `PATCH functions` → how many. */
  readonly counts: Readonly<Record<string, number>>;
  /** From the order to the end of the last spec apply, milliseconds; 0 without one. */
  readonly appliedMs: number;
  /** From the start of the first spec apply to the end of the last. */
  readonly applyingMs: number;
  /** From the order to the end of the last write of a Deployment; 0 without one. */
  readonly deployedMs: number;
}

export interface Done extends RequestCounts {
  readonly kind: "done";
  /** From the order to the end of the sync. */
  readonly syncedMs: number;
}
