import { createBackOff } from "../controller/back-off.ts";
import type { TimerClock } from "../controller/clock.ts";
import { isSlessError, messageOf } from "../errors/index.ts";
import type { ApiObject, ApiResource } from "./api-resource.ts";
import type { KubernetesClient } from "./kubernetes-client.ts";
import { listObjects, type Selection, watchObjects } from "./list-watch.ts";

export interface ObjectWatchOptions<T extends ApiObject = ApiObject> extends Selection {
  readonly clock: TimerClock;
  /** Reduces an object to what is kept of it in memory; `metadata` keeps its name, uid and resourceVersion. */
  readonly reduce?: (object: T) => T;
  readonly log?: { warn(fields: object, message: string): void };
}

/** Objects of a resource of Kubernetes in memory, kept up to date by a list and a watch. */
export interface ObjectWatch<T extends ApiObject> {
  /** Resolves when the first list is in memory; follows until the signal aborts. */
  start(signal: AbortSignal): Promise<void>;
  /** Key: `namespace/name`, or the name alone of what is cluster-scoped. */
  get(namespace: string | undefined, name: string): T | undefined;
  all(): Iterable<T>;
  /** Hears of every change after it is in memory; `object` is the last state of what is gone. Returns the way to unlisten. */
  onChange(listener: (object: T, before: T | undefined, isGone: boolean) => void): () => void;
  /** Takes over what this process just wrote, unless something newer is known. */
  observe(object: T): void;
}

/** Follows a resource; a watch that breaks is resumed with back-off, one that is too old lists again. */
export function watchResource<T extends ApiObject>(
  client: KubernetesClient,
  resource: ApiResource,
  options: ObjectWatchOptions<T>,
): ObjectWatch<T> {
  const { clock, log, reduce = (object: T) => object, ...selection } = options;
  const objects = new Map<string, T>();
  const listeners = new Set<(object: T, before: T | undefined, isGone: boolean) => void>();
  const backOff = createBackOff<string>({ baseMs: 100, maxMs: 30_000 });
  /** Version up to which everything is in memory. */
  let position: string | undefined;

  const tell = (object: T, before: T | undefined, isGone: boolean) => {
    for (const listener of listeners) listener(object, before, isGone);
  };
  const put = (whole: T) => {
    const key = keyOf(whole.metadata.namespace, whole.metadata.name);
    const before = objects.get(key);
    if (before && !isNewer(whole, before)) return;
    const object = reduce(whole);
    objects.set(key, object);
    tell(object, before, false);
  };
  const drop = (object: T) => {
    const key = keyOf(object.metadata.namespace, object.metadata.name);
    const before = objects.get(key);
    if (!before || !(isNewer(object, before) || isSameLife(object, before))) return;
    objects.delete(key);
    tell(reduce(object), before, true);
  };
  const replace = (items: readonly T[]) => {
    const listed = new Set(items.map(({ metadata }) => keyOf(metadata.namespace, metadata.name)));
    for (const [key, object] of [...objects]) {
      if (listed.has(key)) continue;
      objects.delete(key);
      tell(object, object, true);
    }
    for (const object of items) put(object);
  };

  async function follow(signal: AbortSignal, onFirstList: () => void): Promise<void> {
    while (!signal.aborted) {
      try {
        if (position === undefined) {
          const { items, resourceVersion } = await listObjects<T>(client, resource, selection, signal);
          replace(items);
          position = resourceVersion;
          onFirstList();
        }
        for await (const event of watchObjects<T>(client, resource, { ...selection, from: position, signal })) {
          if (event.type === "DELETED") drop(event.object);
          else if (event.type !== "BOOKMARK") put(event.object);
          position = event.type === "BOOKMARK" ? event.resourceVersion : event.object.metadata.resourceVersion!;
          backOff.forget("watch");
        }
      } catch (error) {
        if (signal.aborted) return;
        if (isSlessError(error, "conflict")) position = undefined;
        log?.warn({ resource: resource.plural, err: messageOf(error) }, "watch interrupted");
      }
      await pause(backOff.next("watch"), clock, signal);
    }
  }

  return {
    start: (signal) =>
      new Promise((resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
        void follow(signal, resolve);
      }),
    get: (namespace, name) => objects.get(keyOf(namespace, name)),
    all: () => objects.values(),
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    observe(object) {
      const { namespace, name, resourceVersion = "0" } = object.metadata;
      // What the watch has passed and does not know was deleted since.
      const isPassed = position !== undefined && BigInt(position) >= BigInt(resourceVersion);
      if (objects.has(keyOf(namespace, name)) || !isPassed) put(object);
    },
  };
}

function keyOf(namespace: string | undefined, name: string): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

function isSameLife(a: ApiObject, b: ApiObject): boolean {
  return a.metadata.uid === b.metadata.uid;
}

/** Versions are comparable decimal counters (KEP 5504). */
function isNewer(a: ApiObject, b: ApiObject): boolean {
  return BigInt(a.metadata.resourceVersion ?? "0") > BigInt(b.metadata.resourceVersion ?? "0");
}

function pause(ms: number, clock: TimerClock, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const cancel = clock.setTimer(ms, resolve);
    signal.addEventListener(
      "abort",
      () => {
        cancel();
        resolve();
      },
      { once: true },
    );
  });
}
