import { expect, it } from "vitest";
import { ANNOTATIONS } from "../../src/apis/index.ts";
import { changesBetween, type DesiredObject, type DesiredState, toLine } from "../../src/plan/index.ts";
import { fn, job, service, source, state, trigger } from "./objects.ts";

const hello = fn("hello");
const off = { [ANNOTATIONS.reconcile]: "disabled" };

interface Case {
  readonly base: readonly DesiredObject[];
  readonly head: readonly DesiredObject[];
  readonly with?: Partial<DesiredState>;
  readonly expected: readonly string[];
}
const cases: Record<string, Case> = {
  "the same objects are no change": { base: [hello], head: [hello], expected: ["unchanged Function/default/hello"] },
  "objects that were read anew and are equal are no change": {
    base: [fn("hello", { env: { A: "1" } })],
    head: [fn("hello", { env: { A: "1" } })],
    expected: ["unchanged Function/default/hello"],
  },
  "a changed field is told with both values": {
    base: [fn("hello", { memoryMB: 128, env: { A: "1" } })],
    head: [fn("hello", { memoryMB: 256, env: { A: "1", B: "2" } })],
    expected: ["update Function/default/hello (memoryMB 128 → 256, env.B unset → 2)"],
  },
  "a dropped field is told exactly, replicas too": {
    base: [fn("hello", { replicas: 3, env: { A: "1" } })],
    head: [fn("hello")],
    expected: ["update Function/default/hello (replicas 3 → unset, env.A 1 → unset)"],
  },
  "a dropped label is told": {
    base: [fn("hello", {}, { labels: { team: "a" } })],
    head: [hello],
    expected: ["update Function/default/hello (labels.team a → unset)"],
  },
  "changed code names its files": {
    base: [hello],
    head: [fn("hello", {}, { source: source("two") })],
    expected: ["update Function/default/hello (code: handler.py)"],
  },
  "changed dependencies name their files": {
    base: [hello],
    head: [fn("hello", {}, { source: source("one", "requests") })],
    expected: ["update Function/default/hello (dependencies: requirements.txt)"],
  },
  "dependencies and code that change together are both told": {
    base: [hello],
    head: [fn("hello", {}, { source: source("two", "requests") })],
    expected: ["update Function/default/hello (code and dependencies: handler.py, requirements.txt)"],
  },
  "a job that gets code of its own has changed code": {
    base: [job("once")],
    head: [job("once", {}, { source: source("one") })],
    expected: ["update FunctionJob/default/once (code: handler.py, requirements.txt)"],
  },
  "a moved folder is no deletion": {
    base: [hello],
    head: [fn("hello", {}, { file: "moved/function.yaml" })],
    expected: ["update Function/default/hello (moved from functions/hello/function.yaml)"],
  },
  "deletions are listed without a guard, last, what names others first": {
    base: [hello, fn("a"), trigger("web")],
    head: [fn("b")],
    expected: [
      "create Function/default/b",
      "delete Trigger/default/web",
      "delete Function/default/hello",
      "delete Function/default/a",
    ],
  },
  "a Function that becomes a Service is a creation and a deletion": {
    base: [hello],
    head: [service("hello")],
    expected: ["create Service/default/hello", "delete Function/default/hello"],
  },
  "a faulty head deletes nothing": {
    base: [hello],
    head: [],
    with: { blocksPruning: true },
    expected: ["hold Function/default/hello (nothing is deleted while a manifest is faulty)"],
  },
  "a blocked object is left alone, and not created": {
    base: [hello, fn("gone")],
    head: [fn("hello", { memoryMB: 256 }), fn("new")],
    with: { blocked: new Set(["Function/default/hello", "Function/default/new", "Function/default/gone"]) },
    expected: [
      "leave Function/default/hello (its manifest or source is faulty)",
      "leave Function/default/gone (its manifest or source is faulty)",
    ],
  },
  "objects opted out of deletion are left": {
    base: [
      fn("hello", {}, { annotations: { [ANNOTATIONS.prune]: "disabled" } }),
      fn("other", {}, { annotations: off }),
    ],
    head: [],
    expected: [
      "leave Function/default/other (sless.kube5s.ru/reconcile is disabled)",
      "leave Function/default/hello (gone from the repository, but sless.kube5s.ru/prune is disabled)",
    ],
  },
  "objects opted out of writing are left": {
    base: [hello],
    head: [fn("hello", {}, { annotations: off }), fn("new", {}, { annotations: off })],
    expected: [
      "leave Function/default/hello (sless.kube5s.ru/reconcile is disabled)",
      "leave Function/default/new (sless.kube5s.ru/reconcile is disabled)",
    ],
  },
};
it.each(Object.entries(cases))("%s", (_name, { base, head, with: more, expected }) => {
  expect(changesBetween(state(base), state(head, more)).actions.map(toLine)).toEqual(expected);
});

it("creates everything when there is no base", () => {
  const plan = changesBetween(undefined, state([trigger("web"), hello]));
  expect(plan.actions.map(toLine)).toEqual(["create Function/default/hello", "create Trigger/default/web"]);
});

it("does not let the faults of the base count", () => {
  const base = state([hello, fn("old")], { blocksPruning: true, blocked: new Set(["Function/default/hello"]) });
  const plan = changesBetween(base, state([hello]));
  expect(plan.actions.map(toLine)).toEqual(["unchanged Function/default/hello", "delete Function/default/old"]);
});
