import { join } from "node:path";
import { imageBuilder } from "../../build/images/index.ts";
import type { Builder } from "../../build/index.ts";
import { type DockerSecret, dockerConfigIn, kanikoJobs } from "../../build/kaniko/index.ts";
import { API_RESOURCES, apiPath, isApiError, type KubernetesClient } from "../../kubernetes/index.ts";
import { credentialsIn, parseImageReference, type RegistryClient } from "../../registry/index.ts";
import { registryClients } from "../registry-clients.ts";
import type { ClusterObjects } from "./cluster-objects.ts";
import type { ClusterParts } from "./cluster-parts.ts";
import { missingBuilder } from "./missing-builder.ts";

/** Makes images in the installation's registry; without one it says so of every build. */
export async function openClusterBuilder(parts: ClusterParts, objects: ClusterObjects): Promise<Builder> {
  const { settings, closers, clock, log, version } = parts;
  const { registry: where } = settings;
  if (!where) return missingBuilder(clock);
  const clients = clusterRegistries(parts);
  const builder = imageBuilder({
    objects: objects.objects,
    registry: clients(where.host),
    prefix: where.prefix,
    clientOf: clients,
    mirror: where.mirror,
    jobs: await openJobs(parts, objects),
    clock,
    folder: join(settings.data, "builds"),
    version,
    notice: (message) => log.warn({ component: "builder" }, message),
  });
  closers.defer(() => builder.close());
  return builder;
}

/** Of a process in which nothing is built: which images are there. */
export function builtElsewhere(parts: ClusterParts): Pick<Builder, "has"> {
  const clients = clusterRegistries(parts);
  return {
    async has(imageRef) {
      const { host, repository, digest } = parseImageReference(imageRef);
      return digest !== undefined && (await clients(host).manifestDigest(repository, digest)) !== undefined;
    },
  };
}

/** Clients by host, each with what the installation's docker config says of its own host alone. */
export function clusterRegistries({
  settings,
  client,
  clock,
  closers,
}: ClusterParts): (host: string) => RegistryClient {
  const { registry, pod } = settings;
  const isPlainHttp = (host: string) =>
    registry?.plainHttp === true && (host === registry.host || host === registry.mirror);
  const credentialsOf = (host: string) => async () => {
    if (registry?.secret === undefined) return undefined;
    const config = await dockerConfig(client, { namespace: pod.namespace, name: registry.secret });
    return config === undefined ? undefined : credentialsIn(config, host);
  };
  return registryClients({ clock, isPlainHttp, credentialsOf }, closers);
}

async function dockerConfig(
  client: KubernetesClient,
  secret: { readonly namespace: string; readonly name: string },
): Promise<string | undefined> {
  try {
    const path = apiPath(API_RESOURCES.Secret, secret);
    return dockerConfigIn(await client.request<DockerSecret>({ method: "GET", path }));
  } catch (error) {
    if (isApiError(error, 404)) return undefined;
    throw error;
  }
}

async function openJobs(parts: ClusterParts, { objects, presignedGet }: ClusterObjects) {
  const { settings, client, clock, log, watching } = parts;
  const { builds, registry, pod } = settings;
  if (!builds || !registry) return undefined;
  if (!presignedGet) {
    log.warn({ component: "builder" }, "BUILDER_IMAGE is set and S3_BUCKET is not: builds read their files from there");
    return undefined;
  }
  const { builderFlags, pullSecret, limits, ...rest } = builds;
  const secretNamed = (name: string | undefined) =>
    name === undefined ? undefined : { namespace: pod.namespace, name };
  const jobs = kanikoJobs({
    client,
    objects,
    presign: presignedGet,
    clock,
    log,
    settings: {
      ...rest,
      ...limits,
      dns: settings.dns,
      ...(builderFlags ? { builderFlags } : {}),
      registry: {
        host: registry.host,
        plainHttp: registry.plainHttp,
        mirror: registry.mirror,
        pushSecret: secretNamed(registry.secret),
        pullSecret: secretNamed(pullSecret),
      },
    },
  });
  await jobs.start(watching);
  return jobs;
}
