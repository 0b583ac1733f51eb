import {
  ANNOTATIONS,
  type AnyObject,
  DEFAULT_ENTRYPOINT,
  isTrue,
  refOf,
  refText,
  WORKLOAD_CONDITIONS,
} from "../apis/index.ts";
import type { DesiredObject } from "./desired-state.ts";
import { liveSourceDigest } from "./field-changes.ts";

/** What a source needs when nothing of it is made yet. */
export interface SourceNeed {
  /** As the builder decides; `unknown`: a dependency file cannot be read. */
  readonly kind: "append" | "deps" | "full" | "unknown";
  readonly why: string;
  /** The entry point is part of the image. */
  readonly isCompiled: boolean;
  /** Sorted by name; of links what they lead to. */
  readonly dependencies: readonly { readonly name: string; readonly isExecutable: boolean; readonly id: string }[];
  /** Equal where all of `dependencies` is. Against what runs: what a sync would note of them, where that tells as much. */
  readonly dependenciesId: string;
}

/** What an image is made of, as far as an object tells. */
export interface Program {
  readonly runtime: string;
  readonly entrypoint: string;
  /** Of the source. */
  readonly digest: string | undefined;
}

/** What is taken to be made for an object, before a plan is applied. */
export interface BuiltBefore extends Program {
  /** `refText` */
  readonly ref: string;
  /** Of the source; undefined = not known. */
  readonly dependenciesId: string | undefined;
  /** Where its files are known. */
  readonly need?: SourceNeed;
  /** Why an image of the source is there, in words; undefined where that is not known. */
  readonly image: string | undefined;
}

/** An object of the revision that a plan starts from, which is taken to be deployed. */
export function builtOfRevision({ intent, source }: DesiredObject, need: SourceNeed | undefined): BuiltBefore {
  return {
    ref: refText(refOf(intent)),
    ...programOf(intent.spec, source?.digest),
    dependenciesId: need?.dependenciesId,
    ...(need && { need }),
    image: "source unchanged",
  };
}

/**
 * An object that runs. Its files are not known: that they name the same dependencies says the digest that the sync
 * noted, and not whether something else kept them from being installed alone (a `binding.gyp` that is gone since).
 */
export function builtOfLive(live: AnyObject): BuiltBefore {
  return {
    ref: refText(refOf(live)),
    ...programOf(live.spec, liveSourceDigest(live)),
    dependenciesId: live.metadata.annotations?.[ANNOTATIONS.dependenciesDigest],
    image: hasImage(live) ? "the image exists" : undefined,
  };
}

export function programOf(spec: object, digest: string | undefined): Program {
  const { runtime = "", entrypoint = DEFAULT_ENTRYPOINT } = spec as { runtime?: string; entrypoint?: string };
  return { runtime, entrypoint, digest };
}

/** The status tells of an image of this very spec. That of a job is of its last run, whatever the source was then. */
function hasImage({ metadata, ...live }: AnyObject): boolean {
  if (live.kind !== "Function" && live.kind !== "Service") return false;
  const { status } = live;
  return status?.observedGeneration === metadata.generation && isTrue(live, WORKLOAD_CONDITIONS.buildReady);
}
