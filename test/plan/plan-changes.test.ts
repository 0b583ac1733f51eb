import { describe, expect, it } from "vitest";
import { ANNOTATIONS, type AnyObject, LABELS, refText } from "../../src/apis/index.ts";
import {
  type DesiredObject,
  type DesiredState,
  type PlannedRepository,
  planChanges,
  refOfAction,
  toLine,
} from "../../src/plan/index.ts";
import {
  approved,
  DEAD,
  fn,
  job,
  markHeld,
  nobodys,
  ours,
  request,
  service,
  source,
  theirs,
  toLive,
  trigger,
} from "./objects.ts";

interface PlanCase {
  readonly desired: readonly DesiredObject[];
  readonly live: readonly AnyObject[];
  readonly with?: Partial<DesiredState> & Partial<PlannedRepository>;
  /** Lines of all actions but `unchanged`. */
  readonly expected: readonly string[];
}

const hello = fn("hello");
const many = (count: number) => Array.from({ length: count }, (_, index) => fn(`f${String(index).padStart(2, "0")}`));
const held = (object: DesiredObject) =>
  `hold Function/default/${object.intent.metadata.name} (more deletions than allowed without an approval)`;
const deleted = (object: DesiredObject) => `delete Function/default/${object.intent.metadata.name}`;
const off = { [ANNOTATIONS.reconcile]: "disabled" };
const unpruned = { [ANNOTATIONS.prune]: "disabled" };
const adopt = { [ANNOTATIONS.adopt]: "enabled" };
const [eleven, ten, three] = [many(11), many(10), many(3)];

function check(cases: Record<string, PlanCase>): void {
  it.each(Object.entries(cases))("%s", (_name, { desired, live, with: more, expected }) => {
    const { actions } = planChanges(request(desired, live, more));
    expect(actions.filter(({ kind }) => kind !== "unchanged").map(toLine)).toEqual(expected);
  });
}

describe("what is written", () => {
  check({
    "nothing wanted and nothing there is nothing to do": { desired: [], live: [], expected: [] },
    "an object that is not there is created": {
      desired: [hello],
      live: [],
      expected: ["create Function/default/hello"],
    },
    "an unchanged object is not written": { desired: [hello], live: [ours(hello)], expected: [] },
    "a later revision alone writes nothing": {
      desired: [hello],
      live: [ours(hello, { annotations: { [ANNOTATIONS.revision]: "main@sha1:older" } })],
      expected: [],
    },
    "a changed field is written": {
      desired: [fn("hello", { memoryMB: 256 })],
      live: [ours(fn("hello", { memoryMB: 128 }))],
      expected: ["update Function/default/hello (memoryMB 128 → 256)"],
    },
    "changed code is told as code": {
      desired: [fn("hello", {}, { source: source("two") })],
      live: [ours(hello)],
      expected: ["update Function/default/hello (code)"],
    },
    "changed dependencies are told as dependencies": {
      desired: [fn("hello", {}, { source: source("one", "requests") })],
      live: [ours(hello)],
      expected: ["update Function/default/hello (dependencies)"],
    },
    "code and configuration that change together are both told": {
      desired: [fn("hello", { timeoutSec: 60 }, { source: source("two") })],
      live: [ours(hello)],
      expected: ["update Function/default/hello (code, timeoutSec 30 → 60)"],
    },
    "a field that the manifest drops is given back": {
      desired: [hello],
      live: [ours(fn("hello", { memoryMB: 256, env: { A: "1" } }))],
      expected: ["update Function/default/hello (memoryMB 256 → 128, env.A 1 → unset)"],
    },
    "a dropped label is given back, though nobody knows from the live object whose it is": {
      desired: [hello],
      live: [ours(fn("hello", {}, { labels: { team: "a" } }))],
      expected: ["update Function/default/hello (fields that the manifest no longer names)"],
    },
    "a field that somebody changed behind our back is set again": {
      desired: [fn("hello", { env: { A: "1" } })],
      live: [ours(fn("hello", { env: { A: "1" } }), { spec: { env: { A: "2", B: "3" } } })],
      expected: ["update Function/default/hello (env.A 2 → 1)"],
    },
    "fields of other writers are no drift": {
      desired: [fn("hello", { env: { A: "1" } })],
      live: [ours(fn("hello", { env: { A: "1" } }), { spec: { env: { A: "1", B: "3" }, memoryMB: 512 } })],
      expected: [],
    },
    "replicas that the manifest leaves out belong to scale": {
      desired: [hello],
      live: [ours(hello, { spec: { replicas: 4 } })],
      expected: [],
    },
    "replicas that the manifest names are its own": {
      desired: [fn("hello", { replicas: 2 })],
      live: [ours(fn("hello", { replicas: 2 }), { spec: { replicas: 4 } })],
      expected: ["update Function/default/hello (replicas 4 → 2)"],
    },
    "enabled that the manifest leaves out belongs to PATCH": {
      desired: [trigger("web")],
      live: [ours(trigger("web"), { spec: { enabled: false } })],
      expected: [],
    },
    "a label that somebody removed is set again": {
      desired: [fn("hello", {}, { labels: { team: "a" } })],
      live: [ours(fn("hello", {}, { labels: { team: "a" } }), { labels: { team: "b" } })],
      expected: ["update Function/default/hello (labels.team b → a)"],
    },
    "a source key that somebody changed is set again": {
      desired: [hello],
      live: [ours(hello, { spec: { s3Key: "functions/default/hello/other.zip" } })],
      expected: ["update Function/default/hello (code)"],
    },
    "a moved folder is no deletion": {
      desired: [fn("hello", {}, { file: "moved/function.yaml" })],
      live: [ours(hello)],
      expected: ["update Function/default/hello (moved from functions/hello/function.yaml)"],
    },
    "a renamed object is created before the old one is deleted": {
      desired: [fn("new")],
      live: [ours(fn("old"))],
      expected: ["create Function/default/new", "delete Function/default/old"],
    },
    "workloads come before what names them, and go after it": {
      desired: [trigger("a"), job("a"), service("c"), fn("b")],
      live: [ours(fn("x")), ours(trigger("z")), ours(job("y")), ours(service("w"))],
      expected: [
        "create Function/default/b",
        "create Service/default/c",
        "create FunctionJob/default/a",
        "create Trigger/default/a",
        "delete Trigger/default/z",
        "delete FunctionJob/default/y",
        "delete Function/default/x",
        "delete Service/default/w",
      ],
    },
  });
});

describe("who owns what", () => {
  const other = fn("hello", { memoryMB: 256 });
  check({
    "an object of another repository is refused": {
      desired: [hello],
      live: [theirs(hello)],
      expected: ["refuse Function/default/hello (it belongs to another repository)"],
    },
    "adopt does not take from another repository": {
      desired: [fn("hello", {}, { annotations: adopt })],
      live: [theirs(hello)],
      expected: ["refuse Function/default/hello (it belongs to another repository)"],
    },
    "another repository's objects are never deleted": { desired: [], live: [theirs(hello)], expected: [] },
    "an object that nobody owns is never deleted": { desired: [], live: [nobodys(hello)], expected: [] },
    "a copy of an owner annotation owns nothing": {
      desired: [],
      live: [
        toLive({
          ...hello.intent,
          metadata: { ...hello.intent.metadata, annotations: ours(fn("other")).metadata.annotations! },
        }),
      ],
      expected: [],
    },
    "the label alone owns nothing": {
      desired: [],
      live: [nobodys(hello, { labels: { [LABELS.repository]: "uid-ours" } })],
      expected: [],
    },
    "an owner that exists no longer is nobody": {
      desired: [hello],
      live: [theirs(hello, DEAD)],
      expected: ["adopt Function/default/hello (nobody owned it)"],
    },
    "an equal object that nobody owns is adopted": {
      desired: [hello],
      live: [nobodys(hello)],
      expected: ["adopt Function/default/hello (nobody owned it)"],
    },
    "defaults written out are equal to defaults left out": {
      desired: [hello],
      live: [nobodys(fn("hello", { memoryMB: 128, timeoutSec: 30, entrypoint: "handler.handle" }))],
      expected: ["adopt Function/default/hello (nobody owned it)"],
    },
    "replicas that the manifest leaves out do not hinder an adoption": {
      desired: [hello],
      live: [nobodys(hello, { spec: { replicas: 7 } })],
      expected: ["adopt Function/default/hello (nobody owned it)"],
    },
    "a different object that nobody owns is refused, with what differs": {
      desired: [other],
      live: [nobodys(hello)],
      expected: ["refuse Function/default/hello (it exists, nobody owns it, and it differs: memoryMB 128 → 256)"],
    },
    "a field that only the live object has is a difference too": {
      desired: [hello],
      live: [nobodys(hello, { spec: { env: { A: "1" } } })],
      expected: ["refuse Function/default/hello (it exists, nobody owns it, and it differs: env.A 1 → unset)"],
    },
    "other code under an equal spec is refused": {
      desired: [fn("hello", {}, { source: source("two") })],
      live: [nobodys(hello)],
      expected: ["refuse Function/default/hello (it exists, nobody owns it, and it differs: source)"],
    },
    "adopt: enabled takes over a different object": {
      desired: [fn("hello", { memoryMB: 256 }, { annotations: adopt })],
      live: [nobodys(hello)],
      expected: [
        "adopt Function/default/hello (memoryMB 128 → 256, annotations.sless.kube5s.ru/adopt unset → enabled)",
      ],
    },
  });
});

describe("one name", () => {
  const asService = service("hello");
  check({
    "a Function is refused while somebody's Service has its name": {
      desired: [hello],
      live: [theirs(asService)],
      expected: ["refuse Function/default/hello (Service/default/hello has that name)"],
    },
    "a Service that becomes a Function is created when the Service is gone": {
      desired: [hello],
      live: [ours(asService)],
      expected: [
        "wait Function/default/hello (until Service/default/hello is deleted)",
        "delete Service/default/hello",
      ],
    },
    "a Service that is being deleted is waited for": {
      desired: [hello],
      live: [ours(asService, { deleting: true })],
      expected: ["wait Function/default/hello (until Service/default/hello is deleted)"],
    },
    "a Service that may not be deleted keeps its name": {
      desired: [hello],
      live: [ours(asService)],
      with: { prune: false },
      expected: [
        "refuse Function/default/hello (Service/default/hello has that name)",
        "leave Service/default/hello (gone from the repository, which does not prune)",
      ],
    },
    "a job or a trigger may have a Function's name": {
      desired: [hello, job("hello"), trigger("hello")],
      live: [ours(hello)],
      expected: ["create FunctionJob/default/hello", "create Trigger/default/hello"],
    },
  });
});

describe("what is left alone", () => {
  check({
    "reconcile: disabled on the live object keeps our hands off": {
      desired: [fn("hello", { memoryMB: 256 })],
      live: [ours(hello, { annotations: off })],
      expected: ["leave Function/default/hello (sless.kube5s.ru/reconcile is disabled)"],
    },
    "reconcile: disabled in the manifest does too": {
      desired: [fn("hello", { memoryMB: 256 }, { annotations: off })],
      live: [ours(hello)],
      expected: ["leave Function/default/hello (sless.kube5s.ru/reconcile is disabled)"],
    },
    "reconcile: disabled in the manifest creates nothing": {
      desired: [fn("hello", {}, { annotations: off })],
      live: [],
      expected: ["leave Function/default/hello (sless.kube5s.ru/reconcile is disabled)"],
    },
    "reconcile: disabled adopts nothing": {
      desired: [hello],
      live: [nobodys(hello, { annotations: off })],
      expected: ["leave Function/default/hello (sless.kube5s.ru/reconcile is disabled)"],
    },
    "reconcile: disabled on the live object keeps it from being deleted": {
      desired: [],
      live: [ours(hello, { annotations: off })],
      expected: ["leave Function/default/hello (sless.kube5s.ru/reconcile is disabled)"],
    },
    "prune: disabled on the live object keeps it": {
      desired: [],
      live: [ours(fn("hello", {}, { annotations: unpruned }))],
      expected: ["leave Function/default/hello (gone from the repository, but sless.kube5s.ru/prune is disabled)"],
    },
    "prune: disabled does not hinder an update": {
      desired: [fn("hello", { memoryMB: 256 }, { annotations: unpruned })],
      live: [ours(fn("hello", {}, { annotations: unpruned }))],
      expected: ["update Function/default/hello (memoryMB 128 → 256)"],
    },
    "a repository that does not prune deletes nothing": {
      desired: [],
      live: [ours(hello)],
      with: { prune: false },
      expected: ["leave Function/default/hello (gone from the repository, which does not prune)"],
    },
    "an object of a faulty file is neither written nor deleted": {
      desired: [fn("hello", { memoryMB: 256 })],
      live: [ours(hello), ours(fn("gone"))],
      with: { blocked: new Set(["Function/default/hello", "Function/default/gone"]) },
      expected: [
        "leave Function/default/hello (its manifest or source is faulty)",
        "leave Function/default/gone (its manifest or source is faulty)",
      ],
    },
    "a faulty object that is not there, or not ours, is not touched": {
      desired: [hello, fn("other")],
      live: [theirs(fn("other"))],
      with: { blocked: new Set(["Function/default/hello", "Function/default/other"]) },
      expected: [],
    },
    "an object that is being deleted but wanted is waited for": {
      desired: [hello],
      live: [ours(hello, { deleting: true })],
      expected: ["wait Function/default/hello (until Function/default/hello is deleted)"],
    },
    "an object that is being deleted is not deleted again": {
      desired: [],
      live: [ours(hello, { deleting: true })],
      expected: [],
    },
  });
});

describe("deletions", () => {
  const live = (objects: readonly DesiredObject[]) => objects.map((object) => ours(object));
  check({
    "an emptied folder is deleted": {
      desired: many(1),
      live: live(many(2)),
      expected: ["delete Function/default/f01"],
    },
    "a file that does not parse blocks all pruning": {
      desired: [],
      live: [ours(hello)],
      with: { blocksPruning: true },
      expected: ["hold Function/default/hello (nothing is deleted while a manifest is faulty)"],
    },
    "a file that does not parse blocks approved deletions too": {
      desired: [],
      live: [approved(ours(hello))],
      with: { blocksPruning: true },
      expected: ["hold Function/default/hello (nothing is deleted while a manifest is faulty)"],
    },
    "a file that does not parse does not hinder the writing of others": {
      desired: [hello],
      live: [],
      with: { blocksPruning: true },
      expected: ["create Function/default/hello"],
    },
    "ten of many deletions go through": {
      desired: [...many(30).slice(10)],
      live: live(many(30)),
      expected: ten.map(deleted).reverse(),
    },
    "the eleventh deletion holds them all": {
      desired: [...many(30).slice(11)],
      live: live(many(30)),
      expected: eleven.map(held).reverse(),
    },
    "half of a repository goes through": {
      desired: many(6).slice(3),
      live: live(many(6)),
      expected: three.map(deleted).reverse(),
    },
    "more than half of a repository is held": {
      desired: many(5).slice(3),
      live: live(many(5)),
      expected: three.map(held).reverse(),
    },
    "a repository of four objects may be emptied": {
      desired: [],
      live: live(many(4)),
      expected: many(4).map(deleted).reverse(),
    },
    "objects of others do not make the repository larger": {
      desired: [],
      live: [
        ...live(many(4)),
        ...many(30)
          .slice(4)
          .map((object) => theirs(object)),
      ],
      expected: many(4).map(deleted).reverse(),
    },
    "a trigger and a function of one name are two deletions": {
      desired: [],
      live: many(3).flatMap((object) => [ours(object), ours(trigger(object.intent.metadata.name))]),
      expected: [
        ...three.map((object) => held(object).replace("Function", "Trigger")).reverse(),
        ...three.map(held).reverse(),
      ],
    },
    "the repository's own guard counts": {
      desired: [],
      live: live(many(2)),
      with: { guard: { maxDeletions: 1, maxPercent: 100 } },
      expected: many(2).map(held).reverse(),
    },
    "what was held is not let go because the same revision made the repository larger": {
      desired: many(10).slice(5),
      live: [...live(many(5)).map(markHeld), ...live(many(10).slice(5))],
      expected: many(5).map(held).reverse(),
    },
    "what was held is let go when the guard is opened": {
      desired: [],
      live: live(many(6)).map(markHeld),
      with: { guard: { maxDeletions: 6, maxPercent: 100 } },
      expected: many(6).map(deleted).reverse(),
    },
    "approved deletions go through, though they are many": {
      desired: [],
      live: live(eleven).map((object) => approved(object)),
      expected: eleven.map((object) => `${deleted(object)} (approved)`).reverse(),
    },
    "an approval does not count against further deletions": {
      desired: many(30).slice(13),
      live: live(many(30)).map((object, index) => (index < 11 ? approved(object) : object)),
      expected: many(13)
        .map((object, index) => (index < 11 ? `${deleted(object)} (approved)` : deleted(object)))
        .reverse(),
    },
    "an approval does not widen: what was not approved is held anew": {
      desired: [],
      live: live(many(24)).map((object, index) => (index < 11 ? approved(object) : object)),
      expected: many(24)
        .map((object, index) => (index < 11 ? `${deleted(object)} (approved)` : held(object)))
        .reverse(),
    },
    "an approval of an object that was made anew since counts for nothing": {
      desired: [],
      live: live(eleven).map((object) => approved(object, "an-earlier-uid")),
      expected: eleven.map(held).reverse(),
    },
  });

  it("voids the marks of objects that are wanted again, and of no others", () => {
    const marked = (name: string) => markHeld(ours(fn(name)));
    const live = [marked("wanted"), marked("gone"), approved(ours(fn("approved"))), ours(fn("plain"))];
    const { release } = planChanges(request([fn("wanted"), fn("approved"), fn("plain")], live));
    expect(release.map((object) => object.metadata.name)).toEqual(["wanted", "approved"]);
  });
});

it("names the object of every action", () => {
  const { actions } = planChanges(request([hello, fn("x", {}, { annotations: off })], [ours(fn("old"))]));
  expect(actions.map((action) => refText(refOfAction(action)))).toEqual([
    "Function/default/hello",
    "Function/default/x",
    "Function/default/old",
  ]);
});
