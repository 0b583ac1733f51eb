/** Sorts of things that become garbage. */
export const SORTS = ["source", "context", "log", "image", "dependencies", "build", "base"] as const;
export type Sort = (typeof SORTS)[number];

/** What an image is made of. */
export interface ImageDetails {
  /** Of the source in it; undefined for what has none. */
  readonly sourceDigest: string | undefined;
  /** Digests, the lowest first. */
  readonly layers: readonly string[];
  /** Of all of it. */
  readonly bytes: number;
}

/** Something that is there, and may be garbage. */
export interface Thing {
  /** Unique among all things; a legal key of an object store. */
  readonly id: string;
  readonly sort: Sort;
  /** For people. */
  readonly name: string;
  readonly bytes: number | undefined;
  /** When it was made or last used, where that is known. */
  readonly usedAt: Date | undefined;
  /** Of images. */
  readonly image?: {
    /** Without prefix, as `imageName` has it. */
    readonly repository: string;
    /** `sha256:<hex>` */
    readonly digest: string;
    /** The image that a build of its source would be answered with. */
    readonly isNewest: boolean;
    /** undefined: not looked at. */
    readonly details: ImageDetails | undefined;
  };
}

/** A place where things lie. @throws SlessError, RegistryError: then nothing of it is removed */
export interface Shelf {
  readonly name: string;
  /** Beginnings of the ids of its things. */
  readonly ids: readonly string[];
  things(): AsyncIterable<Thing>;
  /** Looks at what decides whether a thing is referred to, when its name alone does not. */
  describe?(thing: Thing): Promise<Thing>;
  /** @returns false when it is in use after all */
  remove(thing: Thing): Promise<boolean>;
  /** Takes back what `remove` did a moment ago. */
  putBack?(thing: Thing): Promise<void>;
  /** Everything was looked at. */
  tidy?(): Promise<void>;
}
