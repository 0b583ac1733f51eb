import { SlessError } from "../errors/index.ts";
import { ApiError, isApiError, type StatusBody } from "./api-error.ts";
import { type ApiList, type ApiObject, type ApiResource, apiPath } from "./api-resource.ts";
import type { KubernetesClient } from "./kubernetes-client.ts";
import { linesOf } from "./lines-of.ts";
import { isTooLargeAnswer } from "./read-answer.ts";

export interface Selection {
  readonly namespace?: string | undefined;
  /** `app=hello,tier!=back`. */
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /** Only `metadata` is sent: contents that nobody asked for, such as those of secrets, stay where they are. */
  readonly metadataOnly?: boolean | undefined;
  /** Objects come with their managedFields. */
  readonly managedFields?: boolean | undefined;
}

export type ApiWatchEvent<T extends ApiObject> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: T }
  | { readonly type: "BOOKMARK"; readonly resourceVersion: string };

const PAGE = 500;
/** Large objects come in smaller pages: each of them counts up to 1.5 MiB, and whoever may make one decides which. */
const SMALLER = 4;
const METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
const METADATA_LIST = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
/** A list whose later pages expire again and again is of a cluster that compacts faster than it can be read. */
const LIST_TRIES = 3;
/** The server ends watches after a time; not all of them at once. */
const WATCH_SEC = { min: 300, max: 600 } as const;
/** A bookmark comes about every minute: after so long in silence the connection is dead. */
const QUIET_MAX_MS = 180_000;

/**
 * All objects of a consistent list, read in pages; `resourceVersion` is where a watch
 * goes on.
 *
 * @throws ApiError; SlessError `cluster_unavailable`
 */
export async function listObjects<T extends ApiObject>(
  client: KubernetesClient,
  resource: ApiResource,
  selection: Selection = {},
  signal?: AbortSignal,
): Promise<{ items: T[]; resourceVersion: string }> {
  for (let left = LIST_TRIES; ; left -= 1) {
    try {
      return await listPages<T>(client, resource, selection, signal);
    } catch (error) {
      // The version of the first page was compacted away meanwhile.
      if (left === 1 || !isApiError(error, 410)) throw error;
    }
  }
}

/**
 * One page of a list, by name, from the continue token of the page before on. When the version that the pages are of is
 * gone, it goes on by names: it shows what is there now.
 *
 * @throws ApiError (400 for a token that is none); SlessError `cluster_unavailable`
 */
export async function listPage<T extends ApiObject>(
  client: KubernetesClient,
  resource: ApiResource,
  { namespace, limit, token }: { readonly namespace: string; readonly limit: number; readonly token?: string },
): Promise<{ items: T[]; next?: string }> {
  const query = { limit, continue: token };
  try {
    const page = await client.request<ApiList<T>>({ method: "GET", path: apiPath(resource, { namespace }), query });
    const next = page.metadata.continue;
    return { items: page.items, ...(next ? { next } : {}) };
  } catch (error) {
    if (limit > 1 && isTooLargeAnswer(error))
      return listPage(client, resource, { namespace, limit: smaller(limit), ...(token && { token }) });
    const byName = isApiError(error, 410) ? error.continue : undefined;
    if (byName === undefined || byName === token) throw error;
    return listPage(client, resource, { namespace, limit, token: byName });
  }
}

function smaller(limit: number): number {
  return Math.max(1, Math.floor(limit / SMALLER));
}

async function listPages<T extends ApiObject>(
  client: KubernetesClient,
  resource: ApiResource,
  { namespace, labelSelector, fieldSelector, metadataOnly, managedFields }: Selection,
  signal: AbortSignal | undefined,
): Promise<{ items: T[]; resourceVersion: string }> {
  const items: T[] = [];
  const request = {
    method: "GET",
    path: apiPath(resource, { namespace }),
    ...(metadataOnly ? { accept: METADATA_LIST } : {}),
    ...(signal ? { signal } : {}),
  } as const;
  let limit = PAGE;
  let page: ApiList<T> | undefined;
  do {
    const query = { limit, labelSelector, fieldSelector, continue: page?.metadata.continue };
    const next = await client.request<ApiList<T>>({ ...request, query }).catch((error: unknown) => {
      if (limit === 1 || !isTooLargeAnswer(error)) throw error;
      return undefined;
    });
    if (!next) {
      limit = smaller(limit);
      continue;
    }
    page = next;
    // An empty list of metadata has none at all.
    for (const item of page.items ?? []) items.push(managedFields ? item : withoutManagedFields(item));
  } while (!page || page.metadata.continue);
  return { items, resourceVersion: page.metadata.resourceVersion };
}

/**
 * Events after `from` until `signal` aborts or the server ends the watch; go on from the last version then.
 *
 * @param options.timeoutSec when the server ends it; default 5 to 10 minutes
 * @throws SlessError `conflict` when the version is too old (410 Gone) or from another life of the cluster's data: list
 *   again; `cluster_unavailable`. ApiError.
 */
export async function* watchObjects<T extends ApiObject>(
  client: KubernetesClient,
  resource: ApiResource,
  options: Selection & { readonly from: string; readonly signal: AbortSignal; readonly timeoutSec?: number },
): AsyncGenerator<ApiWatchEvent<T>> {
  const { namespace, labelSelector, fieldSelector, metadataOnly, managedFields } = options;
  const { from, signal, timeoutSec = watchSec() } = options;
  const request = {
    method: "GET",
    path: apiPath(resource, { namespace }),
    query: {
      watch: true,
      allowWatchBookmarks: true,
      resourceVersion: from,
      labelSelector,
      fieldSelector,
      timeoutSeconds: timeoutSec,
    },
    ...(metadataOnly ? { accept: METADATA } : {}),
    signal,
  } as const;
  try {
    for await (const line of linesOf(client.stream(request, { quietMs: QUIET_MAX_MS })))
      yield toEvent<T>(line, resource, managedFields);
  } catch (error) {
    if (signal.aborted) return;
    throw isTooOld(error) ? tooOld(resource) : error;
  }
}

function watchSec(): number {
  return Math.round(WATCH_SEC.min + Math.random() * (WATCH_SEC.max - WATCH_SEC.min));
}

function toEvent<T extends ApiObject>(line: string, resource: ApiResource, managedFields = false): ApiWatchEvent<T> {
  const event = parseEvent<T>(line);
  switch (event.type) {
    case "ADDED":
    case "MODIFIED":
    case "DELETED":
      return { type: event.type, object: managedFields ? event.object : withoutManagedFields(event.object) };
    case "BOOKMARK":
      return { type: "BOOKMARK", resourceVersion: event.object.metadata.resourceVersion ?? "" };
    default: {
      const error = new ApiError(event.object.code ?? 500, event.object);
      throw isTooOld(error) ? tooOld(resource) : error;
    }
  }
}

interface RawEvent<T> {
  readonly type: string;
  readonly object: T & StatusBody;
}

function parseEvent<T extends ApiObject>(line: string): RawEvent<T> {
  try {
    const event = JSON.parse(line) as RawEvent<T>;
    if (typeof event.object?.metadata === "object") return event;
  } catch {
    // The parser's own words show a part of what may be a secret.
  }
  throw new SlessError("cluster_unavailable", { cause: "a watch brought what is no event" });
}

/** Also from the future: the cluster's data was restored from a backup. */
function isTooOld(error: unknown): boolean {
  if (!isApiError(error)) return false;
  return error.status === 410 || error.causes.some(({ reason }) => reason === "ResourceVersionTooLarge");
}

function tooOld({ plural }: ApiResource): SlessError {
  return new SlessError("conflict", { what: `The version from which ${plural} were watched` });
}

/** Larger than all the rest of a small object, and nobody who follows objects reads it. */
export function withoutManagedFields<T extends ApiObject>(object: T): T {
  delete (object.metadata as { managedFields?: unknown }).managedFields;
  return object;
}
