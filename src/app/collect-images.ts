import type { LocalBuilder } from "../build/local/index.ts";
import type { ResourceStore } from "../resources/index.ts";

const EVERY_MS = 600_000;

/**
 * Removes local images that no object names any more, now and then; the builder keeps what was used in the last hour.
 *
 * @returns stops it
 */
export function collectImages(
  store: ResourceStore,
  builder: Pick<LocalBuilder, "collect">,
  warn: (error: unknown) => void,
): () => void {
  const timer = setInterval(() => void collect(store, builder).catch(warn), EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}

async function collect(store: ResourceStore, builder: Pick<LocalBuilder, "collect">): Promise<void> {
  const lists = await Promise.all([store.list("Function"), store.list("Service"), store.list("FunctionJob")]);
  const named = lists.flatMap(({ items }) => items.map(({ status }) => status?.imageRef));
  await builder.collect(new Set(named.filter((imageRef) => imageRef !== undefined)));
}
