import { describe, expect, it } from "vitest";
import { type AnyObject, refOf, refText } from "../../src/apis/index.ts";
import {
  type BuiltBefore,
  buildText,
  builtOfLive,
  builtOfRevision,
  changesBetween,
  type DesiredObject,
  planBuilds,
  planChanges,
  type SourceNeed,
} from "../../src/plan/index.ts";
import { fn, nobodys, ours, request, service, source, state, trigger } from "./objects.ts";

/** What the source needs: dependencies unless it has none. */
function needOf({ source: wanted, intent }: DesiredObject, change: Partial<SourceNeed> = {}): SourceNeed | undefined {
  if (!wanted) return undefined;
  const isCompiled = (intent.spec as { runtime?: string }).runtime === "go1.26";
  const file = wanted.files.find(({ path }) => path === "requirements.txt")!;
  const hasNone = file.id === source("x").files[1]!.id;
  return {
    kind: isCompiled ? "full" : hasNone ? "append" : "deps",
    why: isCompiled ? "go is compiled" : hasNone ? "nothing is to be installed" : "dependencies of requirements.txt",
    isCompiled,
    dependencies: hasNone ? [] : [{ name: file.path, isExecutable: false, id: file.id }],
    dependenciesId: wanted.dependenciesDigest,
    ...change,
  };
}

const between = (base: readonly DesiredObject[], head: readonly DesiredObject[], of = needOf) =>
  textsOf(
    planBuilds({
      plan: changesBetween(state(base), state(head)),
      needOf: (object) => of(object),
      before: base.map((object) => builtOfRevision(object, of(object))),
    }),
  );

function textsOf(builds: ReturnType<typeof planBuilds>): Record<string, string> {
  return Object.fromEntries([...builds].map(([ref, build]) => [ref, buildText(build)]));
}

const code = (name: string, spec = {}) => fn(name, spec, { source: source("two") });
const plain = (name: string, spec = {}) => fn(name, spec);
const wanting = (name: string, dependencies: string, made = "one") =>
  fn(name, {}, { source: source(made, dependencies) });

describe("from one revision to another", () => {
  const cases: Record<string, [DesiredObject[], DesiredObject[], Record<string, string>]> = {
    "code that changed is appended": [[plain("a")], [code("a")], { "Function/default/a": "append: only code changed" }],
    "so it is on dependencies that stay": [
      [wanting("a", "flask")],
      [wanting("a", "flask", "two")],
      { "Function/default/a": "append: only code changed" },
    ],
    "dependencies that changed are installed first": [
      [wanting("a", "flask")],
      [wanting("a", "django")],
      { "Function/default/a": "deps + append: requirements.txt changed" },
    ],
    "new ones too": [
      [plain("a")],
      [wanting("a", "flask")],
      { "Function/default/a": "deps + append: requirements.txt is new" },
    ],
    "those that go leave nothing to install": [
      [wanting("a", "flask")],
      [plain("a")],
      { "Function/default/a": "append: nothing is to be installed" },
    ],
    "those of somebody else are there": [
      [wanting("other", "flask"), plain("a")],
      [wanting("other", "flask"), wanting("a", "flask"), wanting("new", "flask")],
      {
        "Function/default/a": "append: its dependencies are those of Function/default/other",
        "Function/default/new": "append: its dependencies are those of Function/default/other",
      },
    ],
    "those of another runtime are not": [
      [fn("other", { runtime: "python3.13" }, { source: source("one", "flask") })],
      [fn("other", { runtime: "python3.13" }, { source: source("one", "flask") }), wanting("a", "flask")],
      { "Function/default/a": "deps + append: requirements.txt is new" },
    ],
    "a compiled language is built": [
      [plain("a", { runtime: "go1.26" })],
      [code("a", { runtime: "go1.26" })],
      { "Function/default/a": "full: go is compiled" },
    ],
    "also for another entry point": [
      [plain("a", { runtime: "go1.26" })],
      [plain("a", { runtime: "go1.26", entrypoint: "handler.other" })],
      { "Function/default/a": "full: go is compiled" },
    ],
    "an entry point that is named as it was is the same": [
      [plain("a", { runtime: "go1.26" })],
      [plain("a", { runtime: "go1.26", entrypoint: "handler.handle", memoryMB: 64 })],
      { "Function/default/a": "no build: source unchanged" },
    ],
    "what is not compiled is not built for another entry point, nor for other fields": [
      [plain("a")],
      [plain("a", { entrypoint: "handler.other", memoryMB: 64 })],
      { "Function/default/a": "no build: source unchanged" },
    ],
    "another runtime is another image": [
      [plain("a"), wanting("b", "flask")],
      [plain("a", { runtime: "python3.13" }), fn("b", { runtime: "python3.13" }, { source: source("one", "flask") })],
      {
        "Function/default/a": "append: runtime python3.11 → python3.13",
        "Function/default/b": "deps + append: runtime python3.11 → python3.13",
      },
    ],
    "a Service is built as a Function is, what has no source is not": [
      [],
      [service("a"), trigger("t", { functionRef: "a" })],
      { "Service/default/a": "append: nothing is to be installed" },
    ],
    "what goes or stays as it is has no build": [[plain("gone"), plain("same")], [plain("same")], {}],
  };
  it.each(Object.entries(cases))("%s", (_name, [base, head, expected]) => {
    expect(between(base, head)).toEqual(expected);
  });

  it("what was built from the whole source left no image of dependencies", () => {
    const whole = (object: DesiredObject) =>
      object.source?.digest === source("one", "flask").digest
        ? needOf(object, { kind: "full", why: "package.json stands beside a binding.gyp" })
        : needOf(object);
    expect(between([wanting("a", "flask")], [wanting("a", "flask", "two")], whole)).toEqual({
      "Function/default/a": "deps + append: dependencies of requirements.txt",
    });
  });

  it("which of several files changed is told", () => {
    const files = (names: readonly string[]) =>
      names.map((text) => ({ name: text.slice(0, 1), isExecutable: false, id: text }));
    const of = (before: readonly string[], after: readonly string[]) => {
      const many = (object: DesiredObject) => {
        const names = object.source?.digest === source("one", "x").digest ? before : after;
        return needOf(object, { dependencies: files(names), dependenciesId: names.join() });
      };
      return between([wanting("a", "x")], [wanting("a", "y")], many)["Function/default/a"];
    };
    expect(of(["a1", "b1"], ["a2", "b2"])).toBe("deps + append: a and b changed");
    expect(of(["a1", "b1"], ["a2", "c1", "d1"])).toBe("deps + append: a changed, c and d are new, b is gone");
  });

  it("what cannot be read is not guessed at", () => {
    const broken = (object: DesiredObject) => needOf(object, { kind: "unknown", why: "package.json cannot be read" });
    expect(between([], [plain("a")], broken)).toEqual({
      "Function/default/a": "build unknown: package.json cannot be read",
    });
  });
});

describe("against what runs", () => {
  const against = (live: readonly AnyObject[], head: readonly DesiredObject[], before = live.map(builtOfLive)) =>
    textsOf(planBuilds({ plan: planChanges(request(head, live)), needOf, before }));

  const built = (object: DesiredObject, status = "True", generation = 1): AnyObject =>
    ({
      ...ours(object),
      status: {
        observedGeneration: generation,
        imageRef: "registry.test/a@sha256:1",
        conditions: [{ type: "BuildReady", status, reason: "Built", message: "", lastTransitionTime: "" }],
      },
    }) as AnyObject;

  const cases: Record<string, [AnyObject[], DesiredObject[], Record<string, string>]> = {
    "an image that is there is taken": [
      [built(plain("a"))],
      [plain("a", { memoryMB: 64 })],
      { "Function/default/a": "no build: the image exists" },
    ],
    "one that is not built yet is not claimed": [
      [built(plain("a"), "False")],
      [plain("a", { memoryMB: 64 })],
      { "Function/default/a": "append: nothing is to be installed, unless its image exists already" },
    ],
    "nor one of an earlier spec": [
      [built(plain("a"), "True", 0)],
      [plain("a", { memoryMB: 64 })],
      { "Function/default/a": "append: nothing is to be installed, unless its image exists already" },
    ],
    "code alone is appended to dependencies that are there": [
      [built(wanting("a", "flask"))],
      [wanting("a", "flask", "two")],
      { "Function/default/a": "append: only code changed" },
    ],
    "dependencies that were never installed are not claimed": [
      [built(wanting("a", "flask"), "False")],
      [wanting("a", "flask", "two")],
      {
        "Function/default/a": "deps + append: dependencies of requirements.txt, unless they are installed already",
      },
    ],
    "that they changed is known, which file is not": [
      [built(wanting("a", "flask"))],
      [wanting("a", "django")],
      { "Function/default/a": "deps + append: dependencies changed (requirements.txt)" },
    ],
    "of what was uploaded no dependencies are known": [
      [nobodys(wanting("a", "flask"))],
      [wanting("a", "flask")],
      {
        "Function/default/a": "deps + append: dependencies of requirements.txt, unless its image exists already",
      },
    ],
    "what waits for a deletion is new": [
      [built(service("a"))],
      [plain("a")],
      { "Function/default/a": "append: nothing is to be installed" },
    ],
  };
  it.each(Object.entries(cases))("%s", (_name, [live, head, expected]) => {
    expect(against(live, head)).toEqual(expected);
  });

  it("without an image of its own it is known by the others' dependencies", () => {
    const others: BuiltBefore[] = [builtOfLive(built(wanting("other", "flask")))];
    const plan = planChanges(request([wanting("a", "flask")], []));
    const builds = planBuilds({ plan, needOf, before: others });
    expect(buildText(builds.get(refText(refOf(wanting("a", "flask").intent))))).toBe(
      "append: its dependencies are those of Function/default/other",
    );
  });
});
