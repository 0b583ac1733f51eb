import type { WorkloadSpec } from "../platform.ts";
import { type DeploymentManifest, deploymentOf } from "./deployment.ts";
import type { LiveDeployment } from "./live-objects.ts";
import { envSecretName, envSecretOf, type SecretManifest } from "./secrets.ts";
import { type ServiceManifest, serviceOf } from "./service.ts";
import type { PlatformSettings } from "./settings.ts";

/** Children of a Function or Service, in the order in which they are written. */
export type WantedChild = SecretManifest | ServiceManifest | DeploymentManifest;

/**
 * What is wanted for a spec. Pure. Without replicas it is the Deployment alone: what nobody uses costs nothing.
 *
 * @param values of `secretEnv`, base64; undefined when one is missing, which does not matter without replicas
 * @param live with an image for a spec without one: what never served again has none
 * @returns nothing when there is no image to run and none that runs
 */
export function wantedChildren(
  spec: WorkloadSpec,
  replicas: number,
  from: {
    readonly values: Readonly<Record<string, string>> | undefined;
    readonly live: LiveDeployment | undefined;
    readonly settings: PlatformSettings;
    readonly pullSecret: string | undefined;
  },
): WantedChild[] {
  const { values = {}, live, settings, pullSecret } = from;
  const imageRef = spec.imageRef || live?.spec.template?.spec?.containers?.[0]?.image;
  if (!imageRef) return [];
  const hasSecrets = Object.keys(spec.secretEnv).length > 0;
  const envSecret = hasSecrets ? envSecretName(spec.workload, values) : undefined;
  const deployment = deploymentOf({ ...spec, imageRef }, replicas, { settings, envSecret, pullSecret });
  if (replicas === 0) return [deployment];
  return [...(hasSecrets ? [envSecretOf(spec.workload, values)] : []), serviceOf(spec.workload), deployment];
}
