import { availableParallelism, loadavg } from "node:os";

/**
 * A limit for what must be quick, in milliseconds: as it is on an idle machine, longer by as much as processes wait for
 * processors now.
 */
export function limitUnderLoad(ms: number): number {
  return ms * (1 + Math.max(...loadavg().slice(0, 2)) / availableParallelism());
}
