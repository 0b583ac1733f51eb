import type { Clock } from "../../controller/clock.ts";
import { API_RESOURCES, apiPath, isApiError, type KubernetesClient } from "../../kubernetes/index.ts";
import type { ObjectStore } from "../../storage/index.ts";
import type { ImageJobRequest } from "../image-jobs.ts";
import { buildContext } from "./build-context.ts";
import { buildJobOf } from "./build-job.ts";
import { contextKeyOf } from "./build-names.ts";
import type { BuildSecrets } from "./build-namespace.ts";
import type { KanikoSettings } from "./kaniko-settings.ts";
import type { LiveJob } from "./live-builds.ts";

export interface LaunchDeps {
  readonly client: KubernetesClient;
  readonly objects: ObjectStore;
  readonly presign: (key: string, seconds: number) => Promise<string>;
  readonly clock: Clock;
  readonly settings: KanikoSettings;
  /** Brings the build namespace up to date. */
  readonly ensureNamespace: () => Promise<BuildSecrets>;
}

export const FIELD_MANAGER = "sless-builds";
/** A pod may begin to fetch in the last moment of its time; clocks differ. */
const SPARE_SEC = 300;
/** Signatures of S3 are good for a week at most. */
const PRESIGNED_MAX_SEC = 7 * 24 * 60 * 60;

/**
 * Stores the build's files and makes its Job; the one that somebody else made of the same key is as good.
 *
 * @throws what reading the files or storing them throws; ApiError; SlessError `cluster_unavailable`
 */
export async function launchBuild(request: ImageJobRequest, signal: AbortSignal, deps: LaunchDeps): Promise<LiveJob> {
  const { objects, presign, clock, settings } = deps;
  const contextKey = contextKeyOf(request.workload, request.key);
  const secrets = await deps.ensureNamespace();
  signal.throwIfAborted();
  await objects.put(contextKey, buildContext(request.dockerfile, request.files()));
  signal.throwIfAborted();
  const contextUrl = await presign(contextKey, Math.min(settings.timeoutSec + SPARE_SEC, PRESIGNED_MAX_SEC));
  const job = buildJobOf({ request, contextKey, contextUrl, ...secrets, startedAt: clock.now() }, settings);
  return createJob(job, deps);
}

async function createJob(job: ReturnType<typeof buildJobOf>, { client, settings }: LaunchDeps): Promise<LiveJob> {
  const { namespace } = settings;
  const query = { fieldManager: FIELD_MANAGER };
  try {
    const path = apiPath(API_RESOURCES.Job, { namespace });
    return await client.request<LiveJob>({ method: "POST", path, query, body: job });
  } catch (error) {
    if (!isApiError(error, 409) || error.reason !== "AlreadyExists") throw error;
    const path = apiPath(API_RESOURCES.Job, { namespace, name: job.metadata.name });
    return client.request<LiveJob>({ method: "GET", path });
  }
}

/** Ends a Job and its pod; that it is gone already is no error. */
export async function deleteJob(
  { client, settings }: Pick<LaunchDeps, "client" | "settings">,
  { metadata: { name, uid } }: LiveJob,
): Promise<void> {
  const path = apiPath(API_RESOURCES.Job, { namespace: settings.namespace, name });
  const preconditions = uid === undefined ? {} : { preconditions: { uid } };
  try {
    await client.request({ method: "DELETE", path, body: { propagationPolicy: "Background", ...preconditions } });
  } catch (error) {
    if (!isApiError(error, 404) && !isApiError(error, 409)) throw error;
  }
}
