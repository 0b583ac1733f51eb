export interface WriteQueue<Draft> {
  /**
   * Calculates a write on top of the earlier ones of its group and resolves after the group's commit. What `write`
   * throws rejects this write alone, also after the commit.
   */
  enqueue<T>(write: (draft: Draft) => T): Promise<T>;
  /** Resolves when nothing is queued. */
  drained(): Promise<void>;
}

interface Waiting<Draft> {
  /** Returns what tells the caller, to be called once the group is durable. */
  run(draft: Draft): () => void;
  reject(error: unknown): void;
}

/** A group ends after this time, so that ten thousand writes at once do not stop the process for seconds. */
const GROUP_MS = 8;

/**
 * Group commit: writes that wait share one transaction. Calculation and commit happen in one turn of the event loop,
 * so that nobody can read what is not durable yet.
 *
 * @param commit makes a group durable; when it throws, every write of the group rejects with that error
 */
export function createWriteQueue<Draft>(open: () => Draft, commit: (draft: Draft) => void): WriteQueue<Draft> {
  let queue: Waiting<Draft>[] = [];
  const onDrained: (() => void)[] = [];

  const runGroup = () => {
    const { draft, tells } = runSome();
    const group = queue.slice(0, tells.length);
    queue = queue.slice(tells.length);
    try {
      commit(draft);
      for (const tell of tells) tell();
    } catch (error) {
      for (const write of group) write.reject(error);
    }
    if (queue.length > 0) setImmediate(runGroup);
    else for (const resolve of onDrained.splice(0)) resolve();
  };

  const runSome = () => {
    const draft = open();
    const tells: (() => void)[] = [];
    const until = performance.now() + GROUP_MS;
    do tells.push(queue[tells.length]!.run(draft));
    while (tells.length < queue.length && performance.now() < until);
    return { draft, tells };
  };

  return {
    enqueue<T>(write: (draft: Draft) => T) {
      return new Promise<T>((resolve, reject) => {
        if (queue.length === 0) setImmediate(runGroup);
        queue.push({ run: (draft) => outcomeOf(() => write(draft), resolve, reject), reject });
      });
    },
    drained: () => (queue.length === 0 ? Promise.resolve() : new Promise((resolve) => onDrained.push(resolve))),
  };
}

function outcomeOf<T>(write: () => T, resolve: (value: T) => void, reject: (error: unknown) => void): () => void {
  try {
    const value = write();
    return () => resolve(value);
  } catch (error) {
    return () => reject(error);
  }
}
