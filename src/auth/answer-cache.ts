import type { Clock } from "../controller/clock.ts";
import { SlessError } from "../errors/index.ts";

/** How long an answer counts, in milliseconds from now; 0 = not at all. */
export interface Life {
  readonly freshMs: number;
  /** At least `freshMs`: until then it still counts when asking again fails. */
  readonly staleMs: number;
}

export interface AnswerCacheOptions<V> {
  readonly clock: Pick<Clock, "monotonicMs">;
  lifeOf(value: V): Life;
  /** Refusals are kept apart, so that a flood of them drives out nothing that is worth keeping. */
  isRefusal(value: V): boolean;
  /** Of each sort, default 10,000; those not used for longest go first. */
  readonly entriesMax?: number;
  /** Questions under way at the same time, default 200; for keys whose last answer was no refusal twice as many. */
  readonly askingMax?: number;
}

/** Answers by key; a key that is asked for several times at once is asked once. */
export interface AnswerCache<V> {
  /** @throws what `ask` throws; SlessError `cluster_unavailable` when too many questions are under way */
  get(key: string, ask: () => Promise<V>): Promise<V>;
}

interface Entry<V> {
  readonly value: V;
  readonly freshUntil: number;
  readonly staleUntil: number;
}

/** After a failed question the stale answer counts for so long before it is asked again. */
const RETRY_MS = 5_000;

export function answerCache<V>(options: AnswerCacheOptions<V>): AnswerCache<V> {
  const { clock, lifeOf, isRefusal, entriesMax = 10_000, askingMax = 200 } = options;
  const kept = new Map<string, Entry<V>>();
  const refusals = new Map<string, Entry<V>>();
  const asking = new Map<string, Promise<V>>();

  function put(key: string, entry: Entry<V>): void {
    kept.delete(key);
    refusals.delete(key);
    if (entry.staleUntil <= clock.monotonicMs()) return;
    const shelf = isRefusal(entry.value) ? refusals : kept;
    shelf.set(key, entry);
    if (shelf.size > entriesMax) shelf.delete(shelf.keys().next().value as string);
  }
  async function askAnew(key: string, ask: () => Promise<V>, old: Entry<V> | undefined): Promise<V> {
    try {
      const value = await ask();
      const { freshMs, staleMs } = lifeOf(value);
      const now = clock.monotonicMs();
      put(key, { value, freshUntil: now + freshMs, staleUntil: now + staleMs });
      return value;
    } catch (error) {
      const now = clock.monotonicMs();
      if (!old || old.staleUntil <= now) throw error;
      put(key, { ...old, freshUntil: Math.min(now + RETRY_MS, old.staleUntil) });
      return old.value;
    }
  }
  return {
    async get(key, ask) {
      const entry = kept.get(key) ?? refusals.get(key);
      if (entry && entry.freshUntil > clock.monotonicMs()) {
        put(key, entry);
        return entry.value;
      }
      const running = asking.get(key);
      if (running) return running;
      // Anybody can ask with tokens of his own making: who was let in before has as much room again.
      if (asking.size >= (kept.has(key) ? 2 * askingMax : askingMax)) {
        if (entry && entry.staleUntil > clock.monotonicMs()) return entry.value;
        throw new SlessError("cluster_unavailable", { cause: "too many requests wait for their tokens to be checked" });
      }
      const answer = askAnew(key, ask, entry).finally(() => asking.delete(key));
      asking.set(key, answer);
      return answer;
    },
  };
}
