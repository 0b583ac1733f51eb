/** How the image of a workload comes to be once its action is applied. */
export interface PlannedBuild {
  /**
   * `append`: the code goes on an image that is there; `deps`: dependencies are installed first; `full`: the whole
   * source is built; `none`: nothing is to be made; `unknown`: what installs the dependencies cannot read their files.
   */
  readonly kind: "none" | "append" | "deps" | "full" | "unknown";
  /** In a few words: `only code changed`, `requirements.txt changed`. */
  readonly reason: string;
}

/** By `refText`; triggers, what is deleted and what stays as it is have none. */
export type PlannedBuilds = ReadonlyMap<string, PlannedBuild>;

export const NO_BUILDS: PlannedBuilds = new Map();

const HEADS = {
  none: "no build",
  append: "append",
  deps: "deps + append",
  full: "full",
  unknown: "build unknown",
} as const satisfies Record<PlannedBuild["kind"], string>;

/** `deps + append: requirements.txt changed`; empty without a build. */
export function buildText(build: PlannedBuild | undefined): string {
  return build ? `${HEADS[build.kind]}: ${build.reason}` : "";
}

/** `2 append, 1 deps + append`; empty without builds. */
export function buildCounts(builds: PlannedBuilds): string {
  const counts = Object.entries(HEADS).map(([kind, head]) => {
    const count = [...builds.values()].filter((build) => build.kind === kind).length;
    return count > 0 ? `${count} ${head}` : "";
  });
  return counts.filter((text) => text !== "").join(", ");
}
