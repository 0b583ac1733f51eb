import type { TimerClock } from "../controller/index.ts";

/** Wakes keys at times of day. */
export interface DueAlarm {
  /** Wakes the key once at that time, or at once if it is over; replaces what was set for it. */
  set(key: string, at: Date): void;
  cancel(key: string): void;
  close(): void;
}

interface Entry {
  readonly key: string;
  readonly at: number;
}

/** Timers measure what passes, not what clocks show: after a sleep or a correction of the clock it is looked at anew. */
const LOOK_MS = 30_000;
/** Replaced entries that the heap keeps before it is made anew. */
const STALE_MAX = 64;

/** One heap and one timer for all keys, however many. */
export function createDueAlarm(clock: TimerClock, onDue: (key: string) => void): DueAlarm {
  let heap: Entry[] = [];
  const current = new Map<string, Entry>();
  let timer: { readonly dueMs: number; cancel(): void } | undefined;

  function dropStale(): void {
    while (heap[0] && current.get(heap[0].key) !== heap[0]) pop(heap);
    if (heap.length <= 2 * current.size + STALE_MAX) return;
    // In order of time, which is a heap.
    heap = [...current.values()].sort((a, b) => a.at - b.at);
  }
  function arm(): void {
    dropStale();
    const first = heap[0];
    if (!first) {
      disarm();
      return;
    }
    const waitMs = Math.min(Math.max(first.at - clock.now().getTime(), 0), LOOK_MS);
    const dueMs = clock.monotonicMs() + waitMs;
    if (timer && timer.dueMs <= dueMs) return;
    disarm();
    timer = { dueMs, cancel: clock.setTimer(waitMs, ring) };
  }
  function disarm(): void {
    timer?.cancel();
    timer = undefined;
  }
  function ring(): void {
    timer = undefined;
    const now = clock.now().getTime();
    for (dropStale(); heap[0] && heap[0].at <= now; dropStale()) {
      const { key } = pop(heap);
      current.delete(key);
      onDue(key);
    }
    arm();
  }

  return {
    set(key, at) {
      const entry = { key, at: at.getTime() };
      if (current.get(key)?.at === entry.at) return;
      current.set(key, entry);
      push(heap, entry);
      arm();
    },
    cancel: (key) => void current.delete(key),
    close() {
      disarm();
      heap = [];
      current.clear();
    },
  };
}

function push(heap: Entry[], entry: Entry): void {
  let at = heap.push(entry) - 1;
  while (at > 0) {
    const parent = (at - 1) >> 1;
    if (heap[parent]!.at <= entry.at) break;
    heap[at] = heap[parent]!;
    at = parent;
  }
  heap[at] = entry;
}

/** The earliest entry of a heap that is not empty. */
function pop(heap: Entry[]): Entry {
  const first = heap[0]!;
  const last = heap.pop()!;
  if (heap.length === 0) return first;
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && heap[child + 1]!.at < heap[child]!.at) child += 1;
    if (last.at <= heap[child]!.at) break;
    heap[at] = heap[child]!;
    at = child;
  }
  heap[at] = last;
  return first;
}
