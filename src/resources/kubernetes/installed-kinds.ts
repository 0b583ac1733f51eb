import { GROUP, KINDS, type Kind } from "../../apis/index.ts";
import { SlessError } from "../../errors/index.ts";
import { API_RESOURCES, type ApiObject, type KubernetesClient, listObjects } from "../../kubernetes/index.ts";

/** What the cluster says of the CustomResourceDefinitions of sless. */
export interface InstalledKinds {
  /**
   * That what was missing or terminating at a version was so because somebody wanted it: when the definition of a kind
   * is removed, the API server deletes all of its objects, and nobody meant those. One small request, unless a later
   * version is known already.
   *
   * @throws SlessError `cluster_unavailable` while the kind is being removed, or is not installed; ApiError
   */
  assertStays(kind: Kind, resourceVersion: string | undefined): Promise<void>;
  /** When it was installed, as far as `assertStays` saw; undefined when it never looked. */
  installedAt(kind: Kind): Date | undefined;
}

export interface InstalledKindsOptions {
  readonly client: KubernetesClient;
  /** Hears that the kind is being removed, whenever that is seen. */
  onRemoval?(kind: Kind): void;
}

interface Seen {
  /** Up to this version the kind was not being removed. */
  readonly version: bigint;
  readonly installedAt: Date;
}

export function installedKinds({ client, onRemoval }: InstalledKindsOptions): InstalledKinds {
  const seen = new Map<Kind, Seen>();

  return {
    async assertStays(kind, resourceVersion) {
      const known = seen.get(kind)?.version;
      if (known !== undefined && resourceVersion !== undefined && BigInt(resourceVersion) <= known) return;
      const name = `${KINDS[kind].plural}.${GROUP}`;
      const definitions = await listObjects<ApiObject>(client, API_RESOURCES.CustomResourceDefinition, {
        fieldSelector: `metadata.name=${name}`,
        metadataOnly: true,
      });
      const definition = definitions.items[0]?.metadata;
      if (!definition) throw removed(name, "is not installed there");
      if (definition.deletionTimestamp !== undefined) {
        onRemoval?.(kind);
        throw removed(name, "is being removed from it");
      }
      const installedAt = new Date(definition.creationTimestamp ?? 0);
      seen.set(kind, { version: BigInt(definitions.resourceVersion), installedAt });
    },
    installedAt: (kind) => seen.get(kind)?.installedAt,
  };
}

function removed(name: string, what: string): SlessError {
  const cause = `${name} ${what}; install the CustomResourceDefinitions of sless`;
  return new SlessError("cluster_unavailable", { cause });
}
