import { refText, type WorkloadRef } from "../../apis/index.ts";
import type { BuildRequest, BuildState } from "../builder.ts";

export type Built = Extract<BuildState, { phase: "built" }>;

/** What a workload asked for last, and what is known of it. */
export interface WantedImage {
  readonly workload: WorkloadRef;
  /** Of the image. */
  readonly key: string;
  /** Of the image whatever it stands on. */
  readonly origin: string;
  /** Of the workload's own build of the image; also names its log. */
  readonly build: string;
  /** Images that it stands on, as the runtime names them. */
  readonly standsOn: readonly string[];
  /** The image of the key. */
  built?: Built | undefined;
  /** An image of the origin on an older base, which serves until the new one is made. */
  older?: Built | undefined;
  /** When the registry was last known to have it. */
  seenAtMs: number;
  /** The entry point whose file was in the source; undefined when that was taken on trust. */
  entrypoint?: string | undefined;
}

/** By workload. */
export interface WantedImages {
  /** Remembers what the workload wants now; `left` is what it wanted before, when that was another image. */
  want(
    request: BuildRequest,
    keys: Pick<WantedImage, "key" | "origin" | "build">,
  ): {
    readonly wanted: WantedImage;
    readonly left: WantedImage | undefined;
  };
  get(workload: WorkloadRef): WantedImage | undefined;
  delete(workload: WorkloadRef): void;
  /** Workloads whose images stand on this one. */
  on(image: string): WorkloadRef[];
  /**
   * What was seen in the registry, or an image of this digest, may not be there.
   *
   * @returns the workloads whose images those are
   */
  forget(digest?: string): WorkloadRef[];
}

export function wantedImages(): WantedImages {
  const byWorkload = new Map<string, WantedImage>();
  return {
    want({ workload, runtime }, keys) {
      const before = byWorkload.get(refText(workload));
      if (before?.key === keys.key) return { wanted: before, left: undefined };
      const standsOn = [runtime.baseImage, ...(runtime.runImage === undefined ? [] : [runtime.runImage])];
      const older = before?.origin === keys.origin ? (before.built ?? before.older) : undefined;
      const wanted = { workload, ...keys, standsOn, older: older && { ...older, reused: true }, seenAtMs: 0 };
      byWorkload.set(refText(workload), wanted);
      return { wanted, left: before };
    },
    get: (workload) => byWorkload.get(refText(workload)),
    delete: (workload) => void byWorkload.delete(refText(workload)),
    on: (image) =>
      [...byWorkload.values()].filter(({ standsOn }) => standsOn.includes(image)).map(({ workload }) => workload),
    forget(digest) {
      const isMeant = (built: Built | undefined) =>
        built !== undefined && (digest === undefined || built.imageRef.endsWith(`@${digest}`));
      const meant = [...byWorkload.values()].filter(({ built, older }) => isMeant(built) || isMeant(older));
      for (const wanted of meant) {
        wanted.seenAtMs = Number.NEGATIVE_INFINITY;
        if (isMeant(wanted.older)) wanted.older = undefined;
      }
      return meant.map(({ workload }) => workload);
    },
  };
}
