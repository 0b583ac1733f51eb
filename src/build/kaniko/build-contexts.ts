import { messageOf } from "../../errors/index.ts";
import type { ObjectStore } from "../../storage/index.ts";

/** The files of builds in the object store: they are of no use once a build has ended. */
export interface BuildContexts {
  /** Removes one behind the back of who asks. What cannot be removed is left to the collection of garbage. */
  remove(key: string | undefined): void;
  /** Resolves when no removal of it is under way: what is stored afterwards stays. */
  settled(key: string): Promise<void>;
  /** Removes those of these keys that are still there. */
  sweep(keys: ReadonlySet<string | undefined>): Promise<void>;
}

export function buildContexts(
  objects: ObjectStore,
  log: { warn(fields: object, message: string): void },
): BuildContexts {
  const removals = new Map<string, Promise<void>>();

  function remove(key: string): Promise<void> {
    const removal = objects
      .delete(key)
      .catch((error: unknown) => log.warn({ key, err: messageOf(error) }, "files of a build not removed"))
      .finally(() => {
        if (removals.get(key) === removal) removals.delete(key);
      });
    removals.set(key, removal);
    return removal;
  }

  return {
    remove: (key) => {
      if (key !== undefined) void remove(key);
    },
    settled: async (key) => removals.get(key),
    async sweep(keys) {
      if (keys.size === 0) return;
      try {
        for await (const key of objects.list("contexts/")) if (keys.has(key)) await remove(key);
      } catch (error) {
        log.warn({ err: messageOf(error) }, "files of builds not looked through");
      }
    },
  };
}
