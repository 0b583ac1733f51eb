import type { WorkloadRef } from "../apis/index.ts";
import type { Runtime } from "../runtimes/index.ts";
import type { LayerEntry } from "./layer/index.ts";

/** What a Dockerfile of sless does, for whoever runs its commands without a container. */
export interface ImageRecipe {
  /** `deps`: installs from the dependency files alone; `source`: where the source stands; `program`: compiles the source. */
  readonly kind: "deps" | "source" | "program";
  readonly runtime: Runtime;
  readonly entrypoint: string;
  /** What the result stands on, `host/repository@sha256:<hex>`: of a program what it runs on. */
  readonly base: string;
}

/** An image that commands make: dependencies, or a program. Equal keys are equal images. */
export interface ImageJobRequest {
  /** 64 hex digits; in it is all that decides the image: base, Dockerfile and files. */
  readonly key: string;
  /** Who asked first: whose limits count, and below whose name the context lies in the object store. */
  readonly workload: WorkloadRef;
  /** Where the image goes, in the registry that all images of functions are in. */
  readonly target: { readonly repository: string; readonly tag: string };
  /** Every `FROM` is by digest where sless could resolve it. */
  readonly dockerfile: string;
  /** The same without a container; a request that has none is for containers alone. */
  readonly recipe?: ImageRecipe;
  /** Files of the context beside the Dockerfile, by their paths in it (`src/handler.py`); read when none is stored yet. */
  readonly files: () => AsyncIterable<LayerEntry>;
  /**
   * What ended before this time counts for nothing and is done again: a failure whose wait is over, an image that
   * was removed from the registry since.
   */
  readonly retryBefore?: Date;
}

export type ImageJobState =
  /** `step` says what it does or waits for: "waiting for a slot", "pulling the builder's image", "running npm ci". */
  | { readonly phase: "building"; readonly startedAt: Date; readonly step: string }
  /** The image is in the registry: `digest` was told by who pushed it. */
  | { readonly phase: "built"; readonly digest: string; readonly builtAt: Date }
  | {
      readonly phase: "failed";
      /** A command of the Dockerfile failed (the dependencies' or the code's fault), or what runs it did. */
      readonly by: "command" | "builder";
      /** CamelCase for a condition: `OutOfMemory`, `ImagePullFailed`, `BuildTimedOut`. Not told for `command`. */
      readonly reason: string;
      /** `command`: how it ended ("npm ended with exit code 1"); `builder`: what happened and what to do, in sentences. */
      readonly message: string;
      /** Last lines of output, without credentials; may be empty. */
      readonly tail: string;
      readonly failedAt: Date;
    };

/**
 * Makes images by running commands where they can do no harm. Level-based like Builder: `ensure` says what is known
 * now and starts what is missing; listeners hear of the key when its state changes. It does not try again by itself.
 */
export interface ImageJobs {
  /** @throws SlessError `storage_unavailable`, `kubernetes_unavailable` and the like: nothing was decided, ask again */
  ensure(request: ImageJobRequest): Promise<ImageJobState>;
  /** Nobody wants it any more: ends it when it runs, and removes what it left. */
  cancel(key: string): Promise<void>;
  /** @returns stops listening */
  onChange(listener: (key: string) => void): () => void;
  /** Output of the last build of the key, as much as is kept; with `follow` until it ends. */
  logs(key: string, options: { follow: boolean; signal: AbortSignal }): AsyncIterable<Uint8Array>;
}
