import { describe, expect, it } from "vitest";
import { buildFailures } from "../../src/build/build-failures.ts";
import { BuildFault } from "../../src/build/build-fault.ts";
import { testClock } from "../support/test-clock.ts";

const fault = new BuildFault("dependencies_failed", { cause: "no index" });

describe("a build that failed", () => {
  it.each([
    ["the clock is right", undefined],
    ["the clock was set back by a day", "2026-02-28T12:00:00Z"],
    ["the clock was set forward by a day", "2026-03-02T12:00:00Z"],
  ])("is tried again after the same while when %s", (_, time) => {
    const clock = testClock("2026-03-01T12:00:00Z");
    const failures = buildFailures(clock);
    failures.add("key", fault);
    const waitMs = failures.current("key", "hello")!.retryAt.getTime() - clock.now().getTime();
    if (time) clock.set(time);
    const told = failures.current("key", "hello");
    expect(told!.retryAt.getTime() - clock.now().getTime()).toBe(waitMs);
    clock.forward(waitMs - 1);
    expect(failures.current("key", "hello")).toBeDefined();
    clock.forward(1);
    expect(failures.current("key", "hello")).toBeUndefined();
  });
});
