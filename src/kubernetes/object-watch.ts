import { createBackOff } from "../controller/back-off.ts";
import { pause, type TimerClock } from "../controller/clock.ts";
import { isSlessError, messageOf } from "../errors/index.ts";
import type { ApiObject, ApiResource } from "./api-resource.ts";
import type { KubernetesClient } from "./kubernetes-client.ts";
import { listObjects, type Selection, watchObjects } from "./list-watch.ts";
import { type ObjectListener, watchedObjects } from "./watched-objects.ts";

export interface ObjectWatchOptions<T extends ApiObject = ApiObject> extends Selection {
  readonly clock: TimerClock;
  /** Reduces an object to what is kept of it in memory; `metadata` keeps its name, uid and resourceVersion. */
  readonly reduce?: (object: T) => T;
  readonly log?: { warn(fields: object, message: string): void };
}

/** Objects of a resource of Kubernetes in memory, kept up to date by a list and a watch. */
export interface ObjectWatch<T extends ApiObject> {
  /** Resolves when the first list is in memory; follows until the signal aborts. Rejects when it aborts before. */
  start(signal: AbortSignal): Promise<void>;
  /** Key: `namespace/name`, or the name alone of what is cluster-scoped. */
  get(namespace: string | undefined, name: string): T | undefined;
  all(): Iterable<T>;
  /** Hears of every change after it is in memory. Returns the way to unlisten. */
  onChange(listener: ObjectListener<T>): () => void;
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
  const objects = watchedObjects<T>((error, { metadata: { namespace, name } }) =>
    log?.warn({ resource: resource.plural, namespace, name, err: messageOf(error) }, "listener failed"),
  );
  const backOff = createBackOff<string>({ baseMs: 100, maxMs: 10_000 });

  async function follow(signal: AbortSignal, onFirstList: () => void): Promise<void> {
    let position: string | undefined;
    while (!signal.aborted) {
      try {
        if (position === undefined) {
          const { items, resourceVersion } = await listObjects<T>(client, resource, selection, signal);
          objects.replace(items.map(reduce), resourceVersion);
          position = resourceVersion;
          onFirstList();
        }
        for await (const event of watchObjects<T>(client, resource, { ...selection, from: position, signal })) {
          if (event.type === "BOOKMARK") objects.reached(event.resourceVersion);
          else if (event.type === "DELETED") objects.drop(reduce(event.object));
          else objects.put(reduce(event.object));
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
    async start(signal) {
      signal.throwIfAborted();
      const first = Promise.withResolvers<void>();
      signal.addEventListener("abort", () => first.reject(signal.reason), { once: true });
      void follow(signal, first.resolve);
      await first.promise;
    },
    get: objects.get,
    all: objects.all,
    onChange: objects.onChange,
    observe: (object) => objects.observe(reduce(object)),
  };
}
