import { SlessError } from "../errors/index.ts";
import type { DesiredLimits } from "./limits.ts";

/** What all YAML files of a repository may cost together: a tree of a few kilobytes can name a file a million times. */
export interface ManifestBudget {
  /** A file was looked at. @throws SlessError `repository_too_large` */
  looked(characters: number): void;
  /** It is ours, and is about to be parsed. @throws SlessError `repository_too_large` */
  parsed(characters: number): void;
  /** So many documents are there. @throws SlessError `repository_too_large` */
  found(documents: number): void;
}

const MIB = 1024 * 1024;

export function manifestBudget({ maxYamlBytes, maxManifestBytes, maxManifests }: DesiredLimits): ManifestBudget {
  const within = (max: number, limit: string) => {
    let total = 0;
    return (count: number) => {
      total += count;
      if (total > max) throw new SlessError("repository_too_large", { limit });
    };
  };
  return {
    looked: within(maxYamlBytes, `${maxYamlBytes / MIB} MiB of YAML`),
    parsed: within(maxManifestBytes, `${maxManifestBytes / MIB} MiB of manifests`),
    found: within(maxManifests, `${maxManifests} objects`),
  };
}
