import { SlessError } from "../errors/index.ts";

export interface DeliverySlots {
  /** @throws SlessError `hooks_busy` when too many are under way, for this key or in all */
  run<T>(key: string, work: () => Promise<T>): Promise<T>;
}

/** Each may hold a payload in memory. What does not find a place is refused at once: nobody waits for a webhook. */
export function deliverySlots({ max, perKey }: { readonly max: number; readonly perKey: number }): DeliverySlots {
  const busy = new Map<string, number>();
  let all = 0;
  return {
    async run(key, work) {
      const own = busy.get(key) ?? 0;
      if (all >= max || own >= perKey) throw new SlessError("hooks_busy");
      all += 1;
      busy.set(key, own + 1);
      try {
        return await work();
      } finally {
        all -= 1;
        const left = (busy.get(key) ?? 1) - 1;
        if (left > 0) busy.set(key, left);
        else busy.delete(key);
      }
    },
  };
}
