import type { E2eCluster } from "./open-cluster.ts";

const REPOSITORY = "library/debian";

/**
 * Where the mirror of docker.io is the tests' own registry, it may have Debian under a shorter tag than the one that
 * compiled functions stand on.
 */
export async function tagRunImage({ registry, settings }: E2eCluster): Promise<void> {
  if (settings.registryMirror !== settings.registryHost) return;
  if (await registry.manifestDigest(REPOSITORY, "stable-slim")) return;
  const slim = await registry.manifest(REPOSITORY, "slim");
  if (!slim) throw new Error(`${settings.registryMirror} has neither ${REPOSITORY}:stable-slim nor ${REPOSITORY}:slim`);
  await registry.putManifest(REPOSITORY, "stable-slim", slim);
}
