import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** A look takes a while, in which nothing else happens. */
const LOOK_EVERY_MS = 250;

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** What this process holds in memory, without what waits for the garbage collector: on a busy machine that is much. */
export function heldBytes(): number {
  // Buffers that the first one found unused are given back at the latest by the second one.
  collect();
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** By how much what is held grew at most, looked at again and again until it is asked for. */
export function watchHeldBytes(): () => number {
  let least = heldBytes();
  let grown = 0;
  const look = () => {
    const held = heldBytes();
    least = Math.min(least, held);
    grown = Math.max(grown, held - least);
  };
  const timer = setInterval(look, LOOK_EVERY_MS);
  return () => {
    clearInterval(timer);
    look();
    return grown;
  };
}
