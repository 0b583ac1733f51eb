import type { Builder } from "../../build/index.ts";
import type { Clock } from "../../controller/index.ts";

const RETRY_MS = 3_600_000;
const MESSAGE =
  "This installation has no registry to make images in. Set REGISTRY_HOST (the chart's registry.host) and start sless anew.";

/** Says of every build that nobody makes it; what was built before goes on. */
export function missingBuilder(clock: Pick<Clock, "now">): Builder {
  return {
    async ensure() {
      const failedAt = clock.now();
      const retryAt = new Date(failedAt.getTime() + RETRY_MS);
      return { phase: "failed", reason: "BuilderMissing", message: MESSAGE, failedAt, retryAt };
    },
    has: async () => true,
    cancel: async () => undefined,
    onChange: () => () => undefined,
    async *logs() {},
  };
}
