import { createSlots, type Slots } from "../controller/index.ts";

/** Work of which so much goes on at a time for each key. */
export interface KeyedSlots {
  run<T>(key: string, work: () => Promise<T>): Promise<T>;
}

/** @param count for each key; default: one by one */
export function createKeyedSlots(count = 1): KeyedSlots {
  const slots = new Map<string, { readonly slot: Slots; users: number }>();
  return {
    async run(key, work) {
      const entry = slots.get(key) ?? { slot: createSlots(count), users: 0 };
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
