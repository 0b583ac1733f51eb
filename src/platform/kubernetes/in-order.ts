/** Runs the work of a key one by one, in the order of the calls. */
export type InOrder = <T>(key: string, work: () => Promise<T>) => Promise<T>;

export function inOrder(): InOrder {
  const tails = new Map<string, Promise<unknown>>();
  return (key, work) => {
    const done = (tails.get(key) ?? Promise.resolve()).then(work, work);
    const tail = done
      .catch(() => undefined)
      .finally(() => {
        if (tails.get(key) === tail) tails.delete(key);
      });
    tails.set(key, tail);
    return done;
  };
}
