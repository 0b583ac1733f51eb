import { expect, it } from "vitest";
import { changesBetween, missingTargets, planChanges, renderPlan } from "../../src/plan/index.ts";
import { fn, job, nobodys, ours, request, service, source, state, theirs, trigger } from "./objects.ts";

const calls = (name: string, functionRef: string) => trigger(name, { functionRef });
const CODE = { source: source("one") };

/** Messages of a plan against what is live. */
function warned(...of: Parameters<typeof request>): string[] {
  const asked = request(...of);
  return missingTargets(planChanges(asked), asked.live).map(({ message }) => message);
}

it("a trigger of a function that is nowhere is warned of, at its place", () => {
  const plan = changesBetween(undefined, state([calls("a-http", "a")]));
  expect(missingTargets(plan)).toEqual([
    {
      file: "functions/a-http/function.yaml",
      line: 1,
      column: 1,
      message:
        "Trigger a-http calls Function or Service a, but no manifest here has one; it goes on by itself once there is one",
    },
  ]);
});

it.each([
  ["that is created beside it", [calls("t", "a"), fn("a", {}, CODE)], []],
  ["of a service", [calls("t", "a"), service("a", {}, CODE)], []],
  ["that nobody owns", [calls("t", "a")], [nobodys(fn("a"))]],
  ["of another repository", [calls("t", "a")], [theirs(fn("a"))]],
  ["that stays as it is", [calls("t", "a"), fn("a")], [ours(calls("t", "a")), ours(fn("a"))]],
] as const)("a trigger of a function %s is not warned of", (_what, wanted, live) => {
  expect(warned([...wanted], [...live])).toEqual([]);
});

it.each([
  ["goes with this plan", [calls("t", "a")], [ours(fn("a"))]],
  ["is a service, which no job runs, so that it", [job("j", { functionRef: "a" }), service("a", {}, CODE)], []],
  ["is not there, and that is so already", [calls("t", "a")], [ours(calls("t", "a"))]],
] as const)("a trigger whose function %s is warned of", (_what, wanted, live) => {
  expect(warned([...wanted], [...live])).toEqual([expect.stringContaining("neither the repository nor the namespace")]);
});

it("a job is warned of that names a service: it runs functions alone", () => {
  const wanted = [
    job("j", { functionRef: "a" }),
    service("a", {}, CODE),
    job("k", { functionRef: "b" }),
    fn("b", {}, CODE),
  ];
  expect(warned(wanted, [])).toEqual([expect.stringContaining("FunctionJob j calls Function a, but neither")]);
});

it.each(["text", "json", "markdown"] as const)("a plan as %s has its warnings", (format) => {
  const plan = changesBetween(undefined, state([calls("a-http", "a")]));
  const warnings = missingTargets(plan);
  const rendered = renderPlan(plan, { format, color: false, diagnostics: [], warnings });
  expect(rendered).toContain("Trigger a-http calls Function or Service a");
  expect(rendered).toMatch(/warning/i);
});
