import { setTimeout } from "node:timers/promises";

export interface Calls {
  readonly count: number;
  /** What was answered instead, each with the milliseconds since the start. */
  readonly wrong: readonly string[];
}

const CALLERS = 2;
const PAUSE_MS = 25;
/** Of calls, whatever happens meanwhile. */
const MAX = 20_000;

/**
 * Calls again and again as long as `work` takes, and for a moment longer.
 *
 * @param call what the answer is
 */
export async function callMeanwhile(
  call: () => Promise<string>,
  expected: string,
  work: () => Promise<void>,
): Promise<Calls> {
  const started = performance.now();
  const wrong: string[] = [];
  let count = 0;
  let isOver = false;
  const caller = async () => {
    while (!isOver && count < MAX) {
      count += 1;
      const at = performance.now();
      const answer = await call();
      if (answer !== expected)
        wrong.push(`${Math.round(at - started)} ms, after ${Math.round(performance.now() - at)} ms: ${answer}`);
      await setTimeout(PAUSE_MS);
    }
  };
  const callers = Array.from({ length: CALLERS }, caller);
  try {
    await work();
    // Pods that were replaced take their leave.
    await setTimeout(2_000);
  } finally {
    isOver = true;
    await Promise.all(callers);
  }
  return { count, wrong };
}
