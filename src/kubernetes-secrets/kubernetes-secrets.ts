import { isSecretKey, isSecretName, keyOf, NAMESPACE_PATTERN, type ObjectKey } from "../apis/index.ts";
import type { TimerClock } from "../controller/clock.ts";
import { SlessError } from "../errors/index.ts";
import {
  type ApiObject,
  apiPath,
  isApiError,
  type KubernetesClient,
  listObjects,
  type ObjectWatch,
  watchResource,
} from "../kubernetes/index.ts";
import type { SecretStore, SecretValues } from "../server/secret-store.ts";
import { changedData } from "./changed-data.ts";
import {
  checkUsers,
  isUsers,
  itemOf,
  newSecret,
  SECRET,
  type SecretObject,
  USERS_FIELD_SELECTOR,
} from "./secret-object.ts";

/** @throws SlessError `invalid_request`, `secret_foreign`, `cluster_refused`, `cluster_unavailable`; none holds a value */
export interface KubernetesSecrets extends SecretStore {
  /** The value of a key as text; undefined for what is not there, is no user's, or has a name that no secret has. */
  read(namespace: string, name: string, key: string): Promise<string | undefined>;
  /** Hears of every secret that may have other keys or values than before; nothing without a `watch`. */
  onChange(listener: (secret: ObjectKey) => void): () => void;
}

export interface KubernetesSecretsOptions {
  readonly client: KubernetesClient;
  /** Of the metadata of Secrets, for `onChange`; started and stopped by whoever made it. */
  readonly watch?: Pick<ObjectWatch<ApiObject>, "onChange">;
}

/** Two processes that write the same secret meet. */
const TRIES = 10;
const namespacePattern = new RegExp(NAMESPACE_PATTERN);

/**
 * Follows which Secrets that may be users' there are, and that they change: values stay where they are. Their annotations
 * do too, for `kubectl apply` leaves a copy of the values there.
 */
export function watchSecrets(
  client: KubernetesClient,
  options: { readonly clock: TimerClock; readonly log?: { warn(fields: object, message: string): void } },
): ObjectWatch<ApiObject> {
  return watchResource<ApiObject>(client, SECRET, {
    ...options,
    fieldSelector: USERS_FIELD_SELECTOR,
    metadataOnly: true,
    reduce: ({ metadata: { name, namespace, uid, resourceVersion } }) =>
      ({ metadata: { name, namespace, uid, resourceVersion } }) as ApiObject,
  });
}

/**
 * Secrets of users' namespaces. Those of types that people write themselves are all there is: tokens of service
 * accounts, registry logins and the like are neither shown, read, nor written.
 */
export function kubernetesSecrets({ client, watch }: KubernetesSecretsOptions): KubernetesSecrets {
  const last = new Map<string, Promise<unknown>>();

  /** Writes of one secret by this process go one after the other; with those of others they meet in the server. */
  async function serially<T>(secret: ObjectKey, work: () => Promise<T>): Promise<T> {
    const key = keyOf(secret);
    const done = (last.get(key) ?? Promise.resolve()).then(() => guarded(() => repeated(work)));
    const ended = done.catch(() => undefined);
    last.set(key, ended);
    void ended.then(() => {
      if (last.get(key) === ended) last.delete(key);
    });
    return done;
  }

  return {
    async read(namespace, name, key) {
      if (!isPlace({ namespace, name }) || !isSecretKey(key)) return undefined;
      const secret = await guarded(() => readSecret(client, { namespace, name }));
      if (!secret || !isUsers(secret) || !Object.hasOwn(secret.data ?? {}, key)) return undefined;
      return Buffer.from(secret.data![key]!, "base64").toString("utf8");
    },
    async list(namespace) {
      if (!namespacePattern.test(namespace)) return [];
      const selection = { namespace, fieldSelector: USERS_FIELD_SELECTOR };
      const { items } = await guarded(() => listObjects<SecretObject>(client, SECRET, selection));
      return items
        .filter((secret) => isUsers(secret) && isSecretName(secret.metadata.name))
        .map(itemOf)
        .sort((a, b) => (a.name < b.name ? -1 : 1));
    },
    async get(key) {
      if (!isPlace(key)) return undefined;
      const secret = await guarded(() => readSecret(client, key));
      return secret && isUsers(secret) ? itemOf(secret) : undefined;
    },
    async write({ namespace, name }, values, options) {
      const key = { namespace, name };
      refuseNoPlace(key);
      return serially(key, () => writeSecret(client, key, { values, ...options }));
    },
    async delete({ namespace, name }) {
      const key = { namespace, name };
      refuseNoPlace(key);
      return serially(key, () => deleteSecret(client, key));
    },
    onChange(listener) {
      if (!watch) return () => {};
      return watch.onChange(({ metadata: { namespace = "", name } }) => listener({ namespace, name }));
    },
  };
}

async function readSecret(client: KubernetesClient, key: ObjectKey): Promise<SecretObject | undefined> {
  try {
    return await client.request<SecretObject>({ method: "GET", path: apiPath(SECRET, key) });
  } catch (error) {
    if (isApiError(error, 404)) return undefined;
    throw error;
  }
}

async function writeSecret(
  client: KubernetesClient,
  key: ObjectKey,
  { values, replace }: { values: SecretValues; replace: boolean },
) {
  const live = await readSecret(client, key);
  if (live) checkUsers(live);
  const before = live?.data ?? {};
  const data = changedData(before, values, { replace });
  if (live && data === before) return { item: itemOf(live), created: false };
  const written = await client.request<SecretObject>(
    live
      ? { method: "PUT", path: apiPath(SECRET, key), body: { ...live, data } }
      : { method: "POST", path: apiPath(SECRET, { namespace: key.namespace }), body: newSecret(key, data) },
  );
  return { item: itemOf(written), created: !live };
}

async function deleteSecret(client: KubernetesClient, key: ObjectKey): Promise<boolean> {
  const live = await readSecret(client, key);
  if (!live || !isUsers(live)) return false;
  const { uid, resourceVersion } = live.metadata;
  try {
    await client.request({
      method: "DELETE",
      path: apiPath(SECRET, key),
      body: { preconditions: { uid, resourceVersion } },
    });
    return true;
  } catch (error) {
    if (isApiError(error, 404)) return false;
    throw error;
  }
}

/** Somebody else wrote between reading and writing: what was decided is decided anew. */
async function repeated<T>(work: () => Promise<T>): Promise<T> {
  for (let left = TRIES; ; left -= 1) {
    try {
      return await work();
    } catch (error) {
      if (left === 1 || !isApiError(error, 409)) throw error;
    }
  }
}

function isPlace({ namespace, name }: ObjectKey): boolean {
  return namespacePattern.test(namespace) && isSecretName(name);
}

/** @throws SlessError `invalid_request` */
function refuseNoPlace(key: ObjectKey): void {
  if (!isPlace(key)) throw new SlessError("invalid_request", { cause: `${keyOf(key).slice(0, 320)} is no secret` });
}

async function guarded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isApiError(error)) throw error;
    if (error.status >= 500 || error.status === 429)
      throw new SlessError("cluster_unavailable", { cause: error.message }, { cause: error });
    throw new SlessError("cluster_refused", { cause: error.message }, { cause: error });
  }
}
