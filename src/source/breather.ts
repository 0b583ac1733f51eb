/** Nobody waits longer for work that blocks. */
const BLOCKED_MAX_MS = 5;

/** Awaited often in work that blocks, it lets other work in between every few milliseconds. */
export function createBreather(): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < BLOCKED_MAX_MS) return;
    await new Promise((resolve) => setImmediate(resolve));
    since = performance.now();
  };
}
