import { defineConfig } from "vitest/config";

/** `npm run e2e`: on a cluster that is there already, one file after the other. */
export default defineConfig({
  test: {
    include: ["test/e2e/**/*.e2e.ts"],
    globalSetup: ["test/e2e/enforced-policies.ts"],
    testTimeout: 420_000,
    hookTimeout: 600_000,
    fileParallelism: false,
    sequence: { concurrent: false },
    // Of the cases that say that they may run at once.
    maxConcurrency: 3,
    bail: 1,
    reporters: ["verbose"],
  },
});
