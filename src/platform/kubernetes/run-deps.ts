import type { ChildWriter } from "./child-writer.ts";
import type { ClusterView } from "./cluster-view.ts";
import type { DeployNamespaces } from "./deploy-namespaces.ts";
import type { RegistryCopies } from "./registry-copies.ts";
import type { SecretReader } from "./secret-reader.ts";
import type { PlatformSettings } from "./settings.ts";

/** What runs of any kind need: what is seen of a cluster, and what writes into it. */
export interface RunDeps {
  readonly log: { warn(fields: object, message: string): void };
  readonly settings: PlatformSettings;
  readonly view: ClusterView;
  readonly writer: ChildWriter;
  readonly secrets: SecretReader;
  readonly namespaces: DeployNamespaces;
  readonly registry: RegistryCopies;
}
