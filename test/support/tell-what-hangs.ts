/**
 * Set-up of every test file: a test that is about to run into its limit, which says only that it did, tells what it
 * waits for, its processes, and what keeps this one alive.
 */
import { afterEach, beforeEach } from "vitest";
import { processesBelow } from "./process-tree.ts";
import { pendingWaits } from "./within.ts";

/** Of the limit: it has to be told before that. */
const PART = 0.98;

const timers = new Map<string, NodeJS.Timeout>();

beforeEach(({ task }) => {
  const report = () =>
    console.error(`${task.name} hangs:\n${[...pendingWaits(), alive(), processesBelow(process.pid)].join("\n")}`);
  timers.set(task.id, setTimeout(report, task.timeout * PART).unref());
});

afterEach(({ task }) => {
  clearTimeout(timers.get(task.id));
  timers.delete(task.id);
});

function alive(): string {
  const counts = Map.groupBy(process.getActiveResourcesInfo(), (resource) => resource);
  return [...counts].map(([resource, all]) => `${resource} ${all.length}`).join(", ");
}
