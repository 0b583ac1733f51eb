import { isDeepStrictEqual } from "node:util";
import { API_VERSION, type Kind, NOT_OBSERVED, type ObjectKey, type ObjectOf, refOf } from "../../apis/index.ts";
import { SlessError } from "../../errors/index.ts";
import {
  type ApiObject,
  apiPath,
  isApiError,
  type KubernetesClient,
  listObjects,
  listPage,
  PATCH_TYPES,
  watchObjects,
  withoutManagedFields,
} from "../../kubernetes/index.ts";
import type { FieldOwner, ListOptions, Page, PageOptions, ResourceStore } from "../resource-store.ts";
import { appliedSpecFields, type Managed } from "./applied-fields.ts";
import { applyObject } from "./apply-object.ts";
import { kindResource } from "./kind-resource.ts";
import { type Asked, isAbsent, storeError } from "./store-error.ts";
import { writableMetadata } from "./writable-metadata.ts";

/** Unknown fields are refused instead of dropped. */
const STRICT = { fieldValidation: "Strict" } as const;

/**
 * A ResourceStore over the custom resources of an API server. Each call is one request (`list`: one per 500 objects);
 * nothing is kept. Objects come without their managedFields and are not frozen. Namespaces must exist: writes into
 * others fail with `namespace_missing`.
 */
export function openKubernetesStore({ client }: { readonly client: KubernetesClient }): ResourceStore {
  return {
    async get(kind, key) {
      try {
        return toObject(kind, await read(client, kind, key));
      } catch (error) {
        if (isAbsent(error)) return undefined;
        throw storeError(error, askedFor(kind, key));
      }
    },
    list: (kind, options = {}) => listKind(client, kind, options),
    page: (kind, options) => pageKind(client, kind, options),
    watch: (kind, options) => watchKind(client, kind, options),
    create: (intent, { owner }) =>
      told({ ref: refOf(intent), intent }, async () => {
        const { kind, metadata, spec } = intent;
        const created = await client.request<ApiObject>({
          method: "POST",
          path: apiPath(kindResource(kind), { namespace: metadata.namespace }),
          query: { fieldManager: fieldManager(owner), ...STRICT },
          body: { apiVersion: API_VERSION, kind, metadata: writableMetadata(metadata), spec },
        });
        return toObject(kind, created);
      }),
    apply: (intent, { owner, ...expected }) =>
      told({ ref: refOf(intent), intent }, async () =>
        toObject(intent.kind, await applyObject(client, intent, { manager: fieldManager(owner), ...expected })),
      ),
    patch: (kind, key, { metadata = {}, spec }, { owner, uid, resourceVersion }) =>
      told(askedFor(kind, key), async () => {
        const { labels, annotations, finalizers } = metadata;
        const patched = await client.request<ApiObject>({
          method: "PATCH",
          path: pathOf(kind, key),
          query: { fieldManager: fieldManager(owner), ...STRICT },
          contentType: PATCH_TYPES.merge,
          body: { metadata: { labels, annotations, finalizers, uid, resourceVersion }, spec },
        });
        return toObject(kind, patched);
      }),
    async appliedFields(kind, key, owner) {
      try {
        const { metadata } = await read<Managed<Kind>>(client, kind, key);
        return appliedSpecFields(metadata.managedFields ?? [], fieldManager(owner));
      } catch (error) {
        if (isAbsent(error)) return [];
        throw storeError(error, askedFor(kind, key));
      }
    },
    updateStatus: (object, status, { owner } = { owner: "reconciler" }) =>
      told({ ref: refOf(object) }, async () => {
        const { kind, metadata } = object;
        if (isDeepStrictEqual(object.status, status)) return object as ObjectOf<typeof kind>;
        const updated = await client.request<ApiObject>({
          method: "PUT",
          path: pathOf(kind, metadata, "status"),
          query: { fieldManager: fieldManager(owner), ...STRICT },
          // The server takes the status alone. But labels, annotations and finalizers that were left out here it would
          // take from their owners, and a later apply could not remove them.
          body: { apiVersion: API_VERSION, kind, metadata, status },
        });
        return toObject(kind, updated);
      }),
    delete: (kind, key, preconditions = {}) => deleteObject(client, kind, key, preconditions),
  };
}

/** `sless-sync`: what stands in `managedFields`. */
function fieldManager(owner: FieldOwner): string {
  return `sless-${owner}`;
}

function pathOf(kind: Kind, { namespace, name }: ObjectKey, subresource?: string): string {
  return apiPath(kindResource(kind), { namespace, name, subresource });
}

function askedFor(kind: Kind, { namespace, name }: ObjectKey): Asked {
  return { ref: { kind, namespace, name } };
}

async function told<T>(asked: Asked, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw storeError(error, asked);
  }
}

function read<T extends ApiObject>(client: KubernetesClient, kind: Kind, key: ObjectKey): Promise<T> {
  return client.request<T>({ method: "GET", path: pathOf(kind, key) });
}

/** Items of a list have no kind of their own. */
function toObject<K extends Kind>(kind: K, object: ApiObject): ObjectOf<K> {
  const own = Object.assign(withoutManagedFields(object), { apiVersion: API_VERSION, kind }) as unknown as ObjectOf<K>;
  // The default of the CRD: nobody wrote a status yet.
  if (own.status?.observedGeneration === NOT_OBSERVED) delete own.status;
  return own;
}

async function listKind<K extends Kind>(client: KubernetesClient, kind: K, options: ListOptions) {
  const selection = { namespace: options.namespace, labelSelector: labelSelector(options) };
  const { items, resourceVersion } = await told(askedFor(kind, { namespace: options.namespace ?? "", name: "" }), () =>
    listObjects(client, kindResource(kind), selection),
  );
  const objects = items.map((item) => toObject(kind, item));
  // The server sorts by the text `namespace/name`, in which "a-b" comes before "a".
  return { items: objects.sort(byNamespaceAndName), resourceVersion };
}

async function pageKind<K extends Kind>(client: KubernetesClient, kind: K, options: PageOptions): Promise<Page<K>> {
  const { namespace, limit, continue: token } = options;
  try {
    const page = await listPage(client, kindResource(kind), {
      namespace,
      limit,
      ...(token !== undefined && { token }),
    });
    return { ...page, items: page.items.map((item) => toObject(kind, item)) };
  } catch (error) {
    // The server's words for it are of its own making.
    if (token !== undefined && isApiError(error, 400)) throw noToken(error);
    throw storeError(error, askedFor(kind, { namespace, name: "" }));
  }
}

function noToken(cause: unknown): SlessError {
  return new SlessError(
    "invalid_request",
    { cause: "continue is no token of a page; leave it out to begin anew" },
    { cause },
  );
}

async function* watchKind<K extends Kind>(
  client: KubernetesClient,
  kind: K,
  { namespace, labels, from, signal }: ListOptions & { from: string; signal: AbortSignal },
) {
  const selection = { namespace, labelSelector: labelSelector({ ...(labels && { labels }) }) };
  try {
    for await (const event of watchObjects(client, kindResource(kind), { ...selection, from, signal })) {
      if (event.type === "BOOKMARK") yield event;
      else yield { type: event.type, object: toObject(kind, event.object) };
    }
  } catch (error) {
    throw storeError(error, askedFor(kind, { namespace: namespace ?? "", name: "" }));
  }
}

function labelSelector({ labels = {} }: ListOptions): string | undefined {
  const terms = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  return terms.length === 0 ? undefined : terms.join(",");
}

async function deleteObject(
  client: KubernetesClient,
  kind: Kind,
  key: ObjectKey,
  { uid, resourceVersion }: { uid?: string; resourceVersion?: string },
): Promise<"deleted" | "terminating" | "absent"> {
  try {
    const answer = await client.request<{ kind: string }>({
      method: "DELETE",
      path: pathOf(kind, key),
      body: {
        apiVersion: "v1",
        kind: "DeleteOptions",
        propagationPolicy: "Background",
        preconditions: { uid, resourceVersion },
      },
    });
    // An object with finalizers is returned as it is now, one that is gone is a mere success.
    return answer.kind === kind ? "terminating" : "deleted";
  } catch (error) {
    if (isAbsent(error)) return "absent";
    throw storeError(error, askedFor(kind, key));
  }
}

function byNamespaceAndName({ metadata: a }: ObjectOf<Kind>, { metadata: b }: ObjectOf<Kind>): number {
  return compare(a.namespace, b.namespace) || compare(a.name, b.name);
}

/** By code unit: the same order on every machine. */
function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
