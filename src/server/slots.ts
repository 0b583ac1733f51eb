/** Work of which only so much goes on at a time; the rest waits in order. */
export interface Slots {
  run<T>(work: () => Promise<T>): Promise<T>;
}

export function createSlots(count: number): Slots {
  let free = count;
  const waiting: (() => void)[] = [];
  return {
    async run(work) {
      if (free > 0) free -= 1;
      else await new Promise<void>((resolve) => void waiting.push(resolve));
      try {
        return await work();
      } finally {
        const next = waiting.shift();
        if (next) next();
        else free += 1;
      }
    },
  };
}

/** Work that goes on one by one for each key. */
export interface KeyedSlots {
  run<T>(key: string, work: () => Promise<T>): Promise<T>;
}

export function createKeyedSlots(): KeyedSlots {
  const slots = new Map<string, { readonly slot: Slots; users: number }>();
  return {
    async run(key, work) {
      const entry = slots.get(key) ?? { slot: createSlots(1), users: 0 };
      slots.set(key, entry);
      entry.users += 1;
      try {
        return await entry.slot.run(work);
      } finally {
        entry.users -= 1;
        if (entry.users === 0) slots.delete(key);
      }
    },
  };
}
