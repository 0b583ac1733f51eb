import type { ObjectStore } from "../storage/index.ts";

/**
 * An ObjectStore for builds: what is not there yet is looked for once more when `stored` has resolved, which is when the
 * first syncs have stored what there was to store.
 */
export function patientStore(objects: ObjectStore, stored: Promise<void>): ObjectStore {
  let isStored = false;
  const waited = stored.then(() => {
    isStored = true;
  });
  return {
    ...objects,
    async read(key, options = {}) {
      const reading = await objects.read(key, options);
      if (reading || isStored) return reading;
      await unlessAborted(waited, options.signal);
      return objects.read(key, options);
    },
  };
}

async function unlessAborted(work: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal?.reason);
  signal?.addEventListener("abort", abort, { once: true });
  try {
    signal?.throwIfAborted();
    await Promise.race([work, promise]);
  } finally {
    signal?.removeEventListener("abort", abort);
  }
}
