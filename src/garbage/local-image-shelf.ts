import type { Shelf } from "./thing.ts";

/** An image of the machine that sless runs on. */
export interface StoredImage {
  /** 64 hex digits; what names it by digest ends with them. */
  readonly key: string;
  readonly usedAt: Date;
}

/** Who has them. */
export interface LocalImages {
  images(): AsyncIterable<StoredImage>;
  bytesOf(key: string): Promise<number>;
  /** @returns false when a build or a workload wants it after all */
  removeImage(key: string): Promise<boolean>;
  /** Removes what was made for images that are gone. */
  removeLeftovers(): Promise<void>;
}

const IDS = "local-images/";

export function localImageShelf(local: LocalImages): Shelf {
  return {
    name: "the images of this machine",
    ids: [IDS],
    async *things() {
      for await (const { key, usedAt } of local.images()) {
        const image = { repository: "local", digest: `sha256:${key}`, isNewest: false, details: undefined };
        const name = `local image ${key.slice(0, 12)}`;
        yield { id: IDS + key, sort: "image", name, bytes: undefined, usedAt, image };
      }
    },
    describe: async (thing) => ({ ...thing, bytes: await local.bytesOf(thing.id.slice(IDS.length)) }),
    remove: ({ id }) => local.removeImage(id.slice(IDS.length)),
    tidy: () => local.removeLeftovers(),
  };
}
