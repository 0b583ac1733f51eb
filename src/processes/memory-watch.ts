import { type GroupMemory, groupMemory } from "./group-memory.ts";

/** A group is looked at once in this time, while there are not too many. */
const LOOK_MS = 100;
/** Looks at once: a thousand groups are gone through in two seconds, and no look holds up anything else. */
const LOOKS_AT_ONCE = 50;
/** What a group started meanwhile counts from then on. */
const RESCAN_MS = 1_000;
/** Where very many processes run, they are gone through so much less often than it takes. */
const RESCAN_SHARE = 50;

export interface MemoryWatch {
  /**
   * Watches a process group. When it holds more than `limitBytes`, `onExceeded` is called once with what it holds.
   *
   * @returns ends the watch
   */
  watch(group: number, limitBytes: number, onExceeded: (usedBytes: number) => void): () => void;
}

interface Watched {
  readonly group: number;
  readonly limitBytes: number;
  readonly onExceeded: (usedBytes: number) => void;
}

/**
 * Looks at the memory of process groups ten times a second. It is no wall: what grows quickly is beyond its limit for
 * the time of a look, as nothing but the kernel can prevent. Nothing runs while nothing is watched.
 */
export function openMemoryWatch(memory: GroupMemory = groupMemory()): MemoryWatch {
  const watched = new Set<Watched>();
  let timer: NodeJS.Timeout | undefined;
  let turn = 0;
  let rescanAt = 0;

  function schedule(): void {
    if (timer || watched.size === 0) return;
    timer = setTimeout(async () => {
      await look().catch(() => undefined); // what cannot be read now is read the next time
      timer = undefined;
      schedule();
    }, LOOK_MS);
    timer.unref();
  }

  async function look(): Promise<void> {
    if (performance.now() >= rescanAt) await rescan();
    const looked = nextTurn();
    const suspects = beyond(looked, await memory.read(groupsOf(looked))).map(([one]) => one);
    if (suspects.length === 0) return;
    // Forks may share most of what they hold, and a pid that was somebody's child may be a stranger's by now: who is to
    // be ended is looked at afresh, and exactly.
    await rescan();
    for (const [one, usedBytes] of beyond(suspects, await memory.readExactly(groupsOf(suspects)))) {
      if (watched.delete(one)) one.onExceeded(usedBytes);
    }
  }

  async function rescan(): Promise<void> {
    const begun = performance.now();
    await memory.rescan();
    const now = performance.now();
    rescanAt = now + Math.max(RESCAN_MS, (now - begun) * RESCAN_SHARE);
  }

  function nextTurn(): Watched[] {
    const all = [...watched];
    const from = turn < all.length ? turn : 0;
    turn = from + LOOKS_AT_ONCE;
    return all.slice(from, turn);
  }

  return {
    watch(group, limitBytes, onExceeded) {
      const one = { group, limitBytes, onExceeded };
      watched.add(one);
      schedule();
      return () => void watched.delete(one);
    },
  };
}

function groupsOf(some: readonly Watched[]): number[] {
  return some.map(({ group }) => group);
}

/** Those that hold more than they may, and how much. */
function beyond(
  some: readonly Watched[],
  bytes: ReadonlyMap<number, number>,
): (readonly [one: Watched, usedBytes: number])[] {
  return some
    .map((one) => [one, bytes.get(one.group) ?? 0] as const)
    .filter(([{ limitBytes }, usedBytes]) => usedBytes > limitBytes);
}
