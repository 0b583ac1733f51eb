import type { TimerClock } from "../controller/index.ts";

export interface Paced<T> {
  /**
   * Does it at once, or, when it was done less than the pause ago, once that is over: what is asked for meanwhile is
   * done together, with what came last. Resolves when it is done, or is to be.
   *
   * @throws what the work throws when it was done at once
   */
  ask(key: string, value: T): Promise<void>;
  /** Does at once what still waits. */
  close(): Promise<void>;
}

export interface PacedOptions<T> {
  readonly clock: TimerClock;
  readonly pauseMs: number;
  readonly work: (value: T) => Promise<void> | void;
  readonly onError: (error: unknown, value: T) => void;
}

interface Pause<T> {
  waiting: { readonly value: T } | undefined;
  cancel: () => void;
}

/** Work by key that is asked for however often, and never done more often than once in a pause. */
export function paced<T>({ clock, pauseMs, work, onError }: PacedOptions<T>): Paced<T> {
  const pauses = new Map<string, Pause<T>>();

  async function workLater({ waiting }: Pause<T>): Promise<void> {
    if (!waiting) return;
    try {
      await work(waiting.value);
    } catch (error) {
      onError(error, waiting.value);
    }
  }
  function begin(key: string): void {
    const pause: Pause<T> = { waiting: undefined, cancel: () => undefined };
    pause.cancel = clock.setTimer(pauseMs, () => {
      if (pause.waiting) begin(key);
      else pauses.delete(key);
      void workLater(pause);
    });
    pauses.set(key, pause);
  }
  return {
    async ask(key, value) {
      const pause = pauses.get(key);
      if (pause) {
        pause.waiting = { value };
        return;
      }
      begin(key);
      await work(value);
    },
    async close() {
      const all = [...pauses.values()];
      pauses.clear();
      for (const { cancel } of all) cancel();
      await Promise.all(all.map(workLater));
    },
  };
}
