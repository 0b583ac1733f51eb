/** How many requests to the stores are under way at a time: with more an API server is not quicker. */
const CONCURRENCY = 16;

/**
 * Works on all items, few at a time. When one throws, no further one is begun; it rejects once those under way have
 * ended.
 */
export async function eachLimited<T>(
  items: readonly T[],
  work: (item: T) => Promise<void>,
  limit: number = CONCURRENCY,
): Promise<void> {
  let next = 0;
  let failed = false;
  async function worker(): Promise<void> {
    while (next < items.length && !failed) {
      try {
        await work(items[next++]!);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  }
  const ended = await Promise.allSettled(Array.from({ length: Math.min(limit, items.length) }, worker));
  for (const result of ended) if (result.status === "rejected") throw result.reason;
}
