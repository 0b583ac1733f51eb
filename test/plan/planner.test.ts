import { expect, it } from "vitest";
import { ANNOTATIONS } from "../../src/apis/index.ts";
import { createPlanner, planChanges, toLine } from "../../src/plan/index.ts";
import { fn, ours, repository, request, theirs, toLive } from "./objects.ts";

const kinds = (plan: ReturnType<typeof planChanges>) => plan.actions.map(({ kind }) => kind);

it("plans the same as without a memory, the first time and later", () => {
  const desired = [fn("a"), fn("b", { memoryMB: 256 }), fn("c")];
  const live = [ours(fn("a")), ours(fn("b")), theirs(fn("c")), ours(fn("d"))];
  const plan = createPlanner();
  const expected = planChanges(request(desired, live));
  expect(plan(request(desired, live))).toEqual(expected);
  expect(plan(request(desired, live))).toEqual(expected);
});

it("sees that a live object which was equal has changed since", () => {
  const plan = createPlanner();
  const desired = [fn("a", { memoryMB: 128 })];
  const before = ours(desired[0]!);
  expect(kinds(plan(request(desired, [before])))).toEqual(["unchanged"]);
  const after = toLive({ kind: "Function", metadata: before.metadata, spec: { ...before.spec, memoryMB: 512 } });
  expect(plan(request(desired, [after])).actions.map(toLine)).toEqual([
    "update Function/default/a (memoryMB 512 → 128)",
  ]);
});

it("sees that an equal object of the same version is another one", () => {
  const plan = createPlanner();
  const desired = [fn("a")];
  const live = ours(desired[0]!);
  expect(kinds(plan(request(desired, [live])))).toEqual(["unchanged"]);
  const anew = { ...live, metadata: { ...live.metadata, uid: "another", annotations: {} } };
  expect(kinds(plan(request(desired, [anew])))).not.toEqual(["unchanged"]);
});

it("does not take what was equal for one repository as equal for another", () => {
  const plan = createPlanner();
  const desired = [fn("a")];
  const live = ours(desired[0]!);
  plan(request(desired, [live]));
  const other = { ...request(desired, [live]), repository: { ...repository, uid: "uid-theirs" } };
  expect(kinds(plan(other))).toEqual(["refuse"]);
});

it("writes objects again when the bucket of the object store changes", () => {
  const plan = createPlanner();
  const desired = [fn("a")];
  const live = ours(desired[0]!);
  plan(request(desired, [live]));
  const moved = { ...request(desired, [live]), repository: { ...repository, s3Bucket: "new" } };
  expect(plan(moved).actions.map(toLine)).toEqual(["update Function/default/a (s3Bucket unset → new)"]);
});

it("sees what changed after a plan with nothing to do, and only that", () => {
  const plan = createPlanner();
  const desired = [fn("a"), fn("b")];
  const live = [...desired.map((object) => ours(object)), theirs(fn("z"))];
  const lines = (...args: Parameters<typeof request>) =>
    plan(request(...args))
      .actions.filter(({ kind }) => kind !== "unchanged")
      .map(toLine);
  expect(lines(desired, live)).toEqual([]);
  expect(lines([...desired], [...live])).toEqual([]);
  expect(lines([desired[0]!, fn("b", { memoryMB: 256 })], live)).toEqual([
    "update Function/default/b (memoryMB 128 → 256)",
  ]);
  expect(lines(desired, live)).toEqual([]);
  expect(lines([...desired, fn("c")], live)).toEqual(["create Function/default/c"]);
  expect(lines(desired.slice(1), live)).toEqual(["delete Function/default/a"]);
  expect(lines(desired, live, { blocked: new Set(["Function/default/a"]) })).toEqual([
    "leave Function/default/a (its manifest or source is faulty)",
  ]);
  expect(lines(desired, live.slice(1))).toEqual(["create Function/default/a"]);
});

it("a plan with nothing to do carries the revision that was asked for", () => {
  const plan = createPlanner();
  const desired = [fn("a")];
  const live = [ours(desired[0]!)];
  plan(request(desired, live));
  const next = plan(request(desired, live, { revision: "main@sha1:next" }));
  expect(next).toMatchObject({ revision: "main@sha1:next", actions: [{ kind: "unchanged" }] });
});

it("does not compare what it has compared before", () => {
  const plan = createPlanner();
  const desired = [fn("a")];
  const live = ours(desired[0]!);
  plan(request(desired, [live]));
  let reads = 0;
  const watched = new Proxy(live, {
    get: (target, key) => {
      if (key === "spec") reads += 1;
      return Reflect.get(target, key);
    },
  });
  expect(kinds(plan(request(desired, [watched])))).toEqual(["unchanged"]);
  expect(kinds(plan(request([...desired, fn("b")], [watched])))).toEqual(["unchanged", "create"]);
  expect(reads).toBe(0);
});

it("leaves the objects that it is given as they are", () => {
  const desired = [fn("a", { env: { A: "1" } }), fn("b")];
  const live = [ours(fn("a")), ours(fn("c")), ours(fn("b"), { annotations: { [ANNOTATIONS.appliedHash]: "other" } })];
  const before = structuredClone({ desired, live });
  createPlanner()(request(desired, live));
  expect({ desired, live }).toEqual(before);
});
