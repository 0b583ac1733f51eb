/** Which keys belong together, and how many of a group may be out at a time. */
export interface Groups<T> {
  of(key: T): string;
  /** Default: any number. */
  readonly max?: number;
}

/**
 * Keys in the order in which they were added, but the groups take turns: a thousand keys of one hold up no key of
 * another. What was taken is out until it is given back.
 */
export interface FairSet<T> {
  readonly size: number;
  add(key: T): void;
  /** The next key of the group whose turn it is; undefined when there is none, or none may be out. */
  take(): T | undefined;
  giveBack(key: T): void;
  clear(): void;
}

export function fairSet<T>({ of, max = Number.POSITIVE_INFINITY }: Groups<T>): FairSet<T> {
  const waiting = new Map<string, Set<T>>();
  const out = new Map<string, number>();
  let size = 0;
  const outOf = (group: string) => out.get(group) ?? 0;
  return {
    get size() {
      return size;
    },
    add(key) {
      const group = of(key);
      const keys = waiting.get(group) ?? new Set<T>();
      waiting.set(group, keys);
      if (keys.has(key)) return;
      keys.add(key);
      size += 1;
    },
    take() {
      for (const [group, keys] of waiting) {
        if (outOf(group) >= max) continue;
        const key = keys.values().next().value as T;
        keys.delete(key);
        size -= 1;
        waiting.delete(group);
        // Its next turn is after those of all others.
        if (keys.size > 0) waiting.set(group, keys);
        out.set(group, outOf(group) + 1);
        return key;
      }
      return undefined;
    },
    giveBack(key) {
      const group = of(key);
      const left = outOf(group) - 1;
      if (left > 0) out.set(group, left);
      else out.delete(group);
    },
    clear() {
      waiting.clear();
      size = 0;
    },
  };
}
