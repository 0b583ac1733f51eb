import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/kubernetes/global-setup.ts"],
    setupFiles: ["test/support/seed-properties.ts", "test/support/tell-what-hangs.ts"],
    // Limits end what hangs; they say nothing about speed, for a machine may be busy with other work.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    pool: "forks",
    // Much of what tests do is waiting for servers and processes: with a file per core cores are idle.
    maxWorkers: Math.max(3, availableParallelism()),
  },
});
