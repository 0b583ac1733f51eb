/** Where the image of a key is. */
export interface MadeAt {
  readonly repository: string;
  readonly digest: string;
}

/** Images by key, wherever they were seen, as far as this process remembers. */
export interface MadeImages {
  get(key: string): MadeAt | undefined;
  add(key: string, at: MadeAt): void;
  /** All, or those of one digest. */
  forget(digest?: string): void;
}

const KEPT = 20_000;

export function madeImages(): MadeImages {
  const images = new Map<string, MadeAt>();
  return {
    get: (key) => images.get(key),
    add(key, at) {
      images.delete(key);
      images.set(key, at);
      // Keys of old pushes are never asked for again.
      for (const oldest of images.keys()) {
        if (images.size <= KEPT) break;
        images.delete(oldest);
      }
    },
    forget(digest) {
      for (const [key, at] of images) if (digest === undefined || at.digest === digest) images.delete(key);
    },
  };
}
