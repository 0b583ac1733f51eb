/** What a repository may cost; every bound is told in a diagnostic or an error that names it. */
export interface DesiredLimits {
  /** Bytes of all files of one source; default 50 MiB. */
  readonly maxSourceBytes: number;
  /** Files of one source; default 3,000. */
  readonly maxSourceFiles: number;
  /** Files and folders below the path that is followed; default 1,000,000. */
  readonly maxEntries: number;
  /** Bytes of all YAML files that are looked at, a file that stands in several places each time; default 1 GiB. */
  readonly maxYamlBytes: number;
  /** Bytes of all manifests; default 64 MiB. */
  readonly maxManifestBytes: number;
  /** Objects of all manifests; default 50,000. */
  readonly maxManifests: number;
}

export const DEFAULT_LIMITS: DesiredLimits = {
  maxSourceBytes: 50 * 1024 * 1024,
  maxSourceFiles: 3000,
  maxEntries: 1_000_000,
  maxYamlBytes: 1024 * 1024 * 1024,
  maxManifestBytes: 64 * 1024 * 1024,
  maxManifests: 50_000,
};

/** Bytes of one `.slessignore`. */
export const MAX_IGNORE_BYTES = 64 * 1024;
