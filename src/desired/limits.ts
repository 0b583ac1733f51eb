/** What a repository may cost; every bound is told in a diagnostic or an error that names it. */
export interface DesiredLimits {
  /** Bytes of all files of one source; default 50 MiB. */
  readonly maxSourceBytes: number;
  /** Files of one source; default 3,000. */
  readonly maxSourceFiles: number;
  /** Files and folders below the path that is followed; default 1,000,000. */
  readonly maxEntries: number;
}

export const DEFAULT_LIMITS: DesiredLimits = {
  maxSourceBytes: 50 * 1024 * 1024,
  maxSourceFiles: 3000,
  maxEntries: 1_000_000,
};

/** Bytes of one `.slessignore`. */
export const MAX_IGNORE_BYTES = 64 * 1024;
