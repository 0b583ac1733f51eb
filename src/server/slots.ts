import { createSlots, type Slots } from "../controller/index.ts";

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
