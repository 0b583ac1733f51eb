import type { KubernetesClient } from "../../kubernetes/index.ts";
import { CONTAINERS } from "./build-names.ts";
import { containerOutput, type Heard } from "./build-output.ts";
import { withoutCredentials } from "./executor-output.ts";
import type { LivePod } from "./live-builds.ts";

export interface LogDeps {
  readonly client: KubernetesClient;
  /** The pod of the build, as long as it is there. */
  readonly pod: () => LivePod | undefined;
  /** What was heard of a build whose pod is gone. */
  readonly heard: () => Heard | undefined;
  /** It waits, or runs. */
  readonly isAwaited: () => boolean;
  /** Resolves when something of it changed, or the signal aborts. */
  readonly change: (signal: AbortSignal) => Promise<void>;
}

/**
 * Output of a build's containers, in the order in which they run, without credentials. With `follow` until it has
 * ended; a build that waits is waited for.
 */
export async function* buildLog(
  { follow, signal }: { readonly follow: boolean; readonly signal: AbortSignal },
  deps: LogDeps,
): AsyncGenerator<Uint8Array> {
  for (const container of CONTAINERS) {
    while (follow && !signal.aborted && deps.isAwaited() && mayYetBegin(deps.pod(), container))
      await deps.change(signal);
    if (signal.aborted) return;
    const pod = deps.pod();
    if (pod && hasBegun(pod, container)) yield* containerOutput(deps.client, pod, container, { follow, signal });
    else if (!pod && container === "build") yield* remembered(deps.heard());
  }
}

function* remembered(heard: Heard | undefined): Generator<Uint8Array> {
  if (heard && heard.output !== "") yield Buffer.from(`${withoutCredentials(heard.output)}\n`);
}

function hasBegun({ containers }: LivePod, name: (typeof CONTAINERS)[number]): boolean {
  const container = containers[name];
  return container?.running !== undefined || container?.terminated !== undefined;
}

/** It is not known yet, or stands in the pod and did not begin, and none after it did. */
function mayYetBegin(pod: LivePod | undefined, name: (typeof CONTAINERS)[number]): boolean {
  if (!pod) return true;
  if (pod.phase === "Succeeded" || pod.phase === "Failed" || !pod.containers[name]) return false;
  return !CONTAINERS.slice(CONTAINERS.indexOf(name)).some((each) => hasBegun(pod, each));
}
