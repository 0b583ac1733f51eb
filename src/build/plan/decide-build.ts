import type { Runtime } from "../../runtimes/index.ts";
import { decodeText } from "./dependency-text.ts";
import { packageReach } from "./package-reach.ts";
import type { DependencyFile } from "./plan-keys.ts";
import { requirementsReach } from "./requirements-reach.ts";

/** What of a source decides how its image comes to be. */
export interface DecidingSource {
  /** Those of the runtime's `dependencyFiles` that the root has; only of `DECIDING_FILES` the content counts. */
  readonly dependencies: readonly Pick<DependencyFile, "name" | "content">[];
  /** Is a file or a folder of this path in the source? */
  readonly hasFile: (path: string) => boolean;
}

/**
 * `append`: the code goes on the base image; `deps`: on an image of its dependencies; `full`: all of it is built. `why` is
 * a few words: `go is compiled`, `package.json has an install script (postinstall)`. `install` installs dependencies.
 */
export type BuildDecision =
  | { readonly kind: "append"; readonly why: string }
  | { readonly kind: "deps"; readonly why: string; readonly install: readonly string[] }
  | { readonly kind: "full"; readonly why: string; readonly install: readonly string[] | undefined };

/** What a builder does with a source whose image is nowhere yet, and `sless plan` tells. Pure. */
export function decideBuild(
  runtime: Pick<Runtime, "language" | "install" | "build">,
  source: DecidingSource,
): BuildDecision {
  const names = new Set(source.dependencies.map(({ name }) => name));
  const install = runtime.install.find(({ when }) => when.every((name) => names.has(name)))?.command;
  if (runtime.build) return { kind: "full", why: `${runtime.language} is compiled`, install };
  if (!install) return { kind: "append", why: "nothing is to be installed" };
  const reach = reachOf(source, names);
  if (reach !== undefined) return { kind: "full", why: reach, install };
  return { kind: "deps", why: `dependencies of ${[...names].sort().join(", ")}`, install };
}

/** Why dependency files alone are not enough, in words; undefined when they are. */
function reachOf({ dependencies, hasFile }: DecidingSource, names: ReadonlySet<string>): string | undefined {
  for (const { name, content } of dependencies) {
    const reach = READERS[name]?.(decodeText(content), names);
    if (reach !== undefined) return `${name} ${reach}`;
  }
  // npm compiles what has one, also without a script that says so.
  if (names.has("package.json") && hasFile("binding.gyp")) return "package.json stands beside a binding.gyp";
  return undefined;
}

const READERS: Readonly<Record<string, (text: string, names: ReadonlySet<string>) => string | undefined>> = {
  "requirements.txt": requirementsReach,
  "constraints.txt": requirementsReach,
  "package.json": packageReach,
};

/** Dependency files whose content decides; of others it is enough that they are there. */
export const DECIDING_FILES: ReadonlySet<string> = new Set(Object.keys(READERS));
