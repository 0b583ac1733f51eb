import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/kubernetes/global-setup.ts"],
    setupFiles: ["test/support/seed-properties.ts"],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    pool: "forks",
    // Much of what tests do is waiting for servers and processes: on two cores one file at a time leaves one of them idle.
    maxWorkers: Math.max(2, availableParallelism() - 1),
  },
});
