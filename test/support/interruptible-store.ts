import type { ResourceStore } from "../../src/resources/index.ts";

/** A store whose running watches can be made to throw. */
export function interruptible(store: ResourceStore) {
  let interrupt = (_error: Error) => {};
  const faulty: Pick<ResourceStore, "list" | "watch"> = {
    list: (...request) => store.list(...request),
    async *watch(kind, options) {
      const broken = Promise.withResolvers<never>();
      interrupt = broken.reject;
      const events = store.watch(kind, options)[Symbol.asyncIterator]();
      for (;;) {
        const event = await Promise.race([events.next(), broken.promise]);
        if (event.done) return;
        yield event.value;
      }
    },
  };
  return { faulty, interrupt: (error: Error) => interrupt(error) };
}
