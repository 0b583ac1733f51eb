import { SlessError } from "../errors/index.ts";
import { ApiError, isApiError, type StatusBody } from "./api-error.ts";
import { type ApiList, type ApiObject, type ApiResource, apiPath } from "./api-resource.ts";
import type { KubernetesClient } from "./kubernetes-client.ts";

export interface Selection {
  readonly namespace?: string | undefined;
  /** `app=hello,tier!=back`. */
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /** Only `metadata` is sent: contents that nobody asked for, such as those of secrets, stay where they are. */
  readonly metadataOnly?: boolean | undefined;
}

export type ApiWatchEvent<T extends ApiObject> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: T }
  | { readonly type: "BOOKMARK"; readonly resourceVersion: string };

const PAGE = 500;
const METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
const METADATA_LIST = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
/** One object is at most 1.5 MiB in etcd; an event is that as JSON. */
const EVENT_MAX_BYTES = 16 * 1024 * 1024;

/** All objects of a consistent list, read in pages; `resourceVersion` is where a watch goes on. @throws ApiError */
export async function listObjects<T extends ApiObject>(
  client: KubernetesClient,
  resource: ApiResource,
  { namespace, labelSelector, fieldSelector, metadataOnly }: Selection = {},
  signal?: AbortSignal,
): Promise<{ items: T[]; resourceVersion: string }> {
  const items: T[] = [];
  let page: ApiList<T> | undefined;
  do {
    page = await client.request<ApiList<T>>({
      method: "GET",
      path: apiPath(resource, { namespace }),
      query: { limit: PAGE, labelSelector, fieldSelector, continue: page?.metadata.continue },
      ...(metadataOnly ? { accept: METADATA_LIST } : {}),
      ...(signal ? { signal } : {}),
    });
    items.push(...page.items);
  } while (page.metadata.continue);
  return { items, resourceVersion: page.metadata.resourceVersion };
}

/**
 * Events after `from` until `signal` aborts or the server ends the watch; go on from the last version then.
 *
 * @throws SlessError `conflict` when the version is too old (410 Gone): list again; `cluster_unavailable`. ApiError.
 */
export async function* watchObjects<T extends ApiObject>(
  client: KubernetesClient,
  resource: ApiResource,
  options: Selection & { readonly from: string; readonly signal: AbortSignal; readonly timeoutSec?: number },
): AsyncGenerator<ApiWatchEvent<T>> {
  const { namespace, labelSelector, fieldSelector, metadataOnly, from, signal, timeoutSec } = options;
  const lines = linesOf(
    client.stream({
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
    }),
  );
  try {
    for await (const line of lines) yield toEvent<T>(line, resource);
  } catch (error) {
    if (signal.aborted) return;
    throw isApiError(error, 410) ? tooOld(resource) : error;
  }
}

function toEvent<T extends ApiObject>(line: string, resource: ApiResource): ApiWatchEvent<T> {
  const event = JSON.parse(line) as { type: string; object: T & StatusBody };
  switch (event.type) {
    case "ADDED":
    case "MODIFIED":
    case "DELETED":
      return { type: event.type, object: event.object };
    case "BOOKMARK":
      return { type: "BOOKMARK", resourceVersion: event.object.metadata.resourceVersion ?? "" };
    default:
      throw event.object.code === 410 ? tooOld(resource) : new ApiError(event.object.code ?? 500, event.object);
  }
}

function tooOld({ plural }: ApiResource): SlessError {
  return new SlessError("conflict", { what: `The version from which ${plural} were watched` });
}

async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let parts: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    let rest = Buffer.from(chunk);
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      parts.push(rest.subarray(0, end));
      const line = Buffer.concat(parts).toString("utf8");
      parts = [];
      bytes = 0;
      rest = rest.subarray(end + 1);
      if (line !== "") yield line;
    }
    parts.push(rest);
    bytes += rest.byteLength;
    if (bytes > EVENT_MAX_BYTES) throw new SlessError("cluster_unavailable", { cause: "a watch event has no end" });
  }
}
