import type { TimerClock } from "../controller/index.ts";
import { createHooks, type Hooks, type HooksDeps } from "../hooks/index.ts";
import type { ResourceStore } from "../resources/index.ts";
import type { Metrics } from "../server/index.ts";
import { requestSync, type SyncController } from "../sync/index.ts";
import type { Closers } from "./closers.ts";

export interface OpenHooksDeps {
  readonly store: Pick<ResourceStore, "get" | "patch">;
  readonly readSecret: HooksDeps["readSecret"];
  /** Of this process; default: whatever process syncs, which is reached through an annotation. */
  readonly sync?: () => Pick<SyncController, "hint"> | undefined;
  readonly clock: TimerClock;
  readonly log: HooksDeps["log"];
  readonly metrics: Pick<Metrics, "onDelivery">;
}

/** Webhooks whose hints go to a sync. Closed after what was opened later, such as the server that they come to. */
export function openHooks({ sync, metrics, ...deps }: OpenHooksDeps, closers: Closers): Hooks {
  const hooks = createHooks({
    ...deps,
    onDelivery: metrics.onDelivery,
    async hint(repository) {
      const { namespace, name } = repository.metadata;
      const own = sync?.();
      if (own) own.hint({ namespace, name });
      else await requestSync(repository, deps);
    },
  });
  closers.defer(() => hooks.close());
  return hooks;
}
