import type { ObjectStore } from "../storage/index.ts";
import type { Shelf, Sort } from "./thing.ts";

const SORT_OF: Readonly<Record<string, Sort>> = {
  "functions/": "source",
  "jobs/": "source",
  "contexts/": "context",
  "builds/": "log",
};

/** Archives of sources, contexts and logs of builds. */
export function objectShelf(objects: Pick<ObjectStore, "entries" | "delete">): Shelf {
  return {
    name: "the object store",
    ids: Object.keys(SORT_OF),
    async *things() {
      for (const [prefix, sort] of Object.entries(SORT_OF)) {
        for await (const { key, bytes, storedAt } of objects.entries(prefix))
          yield { id: key, sort, name: key, bytes, usedAt: storedAt };
      }
    },
    async remove({ id }) {
      await objects.delete(id);
      return true;
    },
  };
}
