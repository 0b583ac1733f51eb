import { request } from "undici";
import { systemClock } from "../../src/controller/index.ts";
import {
  API_RESOURCES,
  type ApiObject,
  apiPath,
  isApiError,
  type KubernetesClient,
  openKubernetesClient,
  PATCH_TYPES,
} from "../../src/kubernetes/index.ts";
import { type RegistryClient, registryClient } from "../../src/registry/index.ts";
import { openS3Store, type S3Store } from "../../src/storage/s3/index.ts";
import type { E2eSettings } from "./settings.ts";

/** Everything outside that the tests talk to. */
export interface E2eCluster extends AsyncDisposable {
  readonly settings: E2eSettings;
  readonly client: KubernetesClient;
  readonly registry: RegistryClient;
  /** Without TLS. */
  readonly isPlainRegistry: boolean;
  readonly objects: S3Store;
  /** Server-side apply of any object of `API_RESOURCES`. */
  apply(kind: keyof typeof API_RESOURCES, object: object): Promise<ApiObject>;
  /** @returns undefined when it is not there */
  get<T extends ApiObject>(path: string): Promise<T | undefined>;
}

export async function openCluster(settings: E2eSettings): Promise<E2eCluster> {
  const client = openKubernetesClient({ from: { file: settings.kubeconfig }, userAgent: "sless-e2e" });
  const isPlainRegistry = await answersPlainHttp(settings.registryHost);
  const registry = registryClient({ host: settings.registryHost, plainHttp: isPlainRegistry, clock: systemClock });
  const objects = await openS3Store(settings.s3);
  return {
    settings,
    client,
    registry,
    isPlainRegistry,
    objects,
    apply(kind, object) {
      const { apiVersion, metadata, ...rest } = object as ApiObject;
      const { group, version } = API_RESOURCES[kind];
      const body = { apiVersion: apiVersion ?? [group, version].filter(Boolean).join("/"), ...rest, kind, metadata };
      const path = apiPath(API_RESOURCES[kind], metadata);
      const query = { fieldManager: "sless-e2e", force: true };
      return client.request({ method: "PATCH", path, query, body, contentType: PATCH_TYPES.apply });
    },
    async get(path) {
      try {
        return await client.request({ method: "GET", path });
      } catch (error) {
        if (isApiError(error, 404)) return undefined;
        throw error;
      }
    },
    async [Symbol.asyncDispose]() {
      objects.close();
      await Promise.all([client.close(), registry.close()]);
    },
  };
}

async function answersPlainHttp(host: string): Promise<boolean> {
  try {
    const { body } = await request(`http://${host}/v2/`, { headersTimeout: 5_000 });
    await body.dump();
    return true;
  } catch {
    return false;
  }
}
