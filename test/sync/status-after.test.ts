import { describe, expect, it } from "vitest";
import type { AnyObject, Diagnostic, ObjectOf, RepositoryStatus } from "../../src/apis/index.ts";
import { type ErrorCode, SlessError } from "../../src/errors/index.ts";
import { type Action, createPlanner } from "../../src/plan/index.ts";
import { createCorrections } from "../../src/sync/corrections.ts";
import { nextAfter } from "../../src/sync/next-after.ts";
import { type Outcome, type Reason, type Run, startRun } from "../../src/sync/run.ts";
import { statusAfter, suspendedStatus } from "../../src/sync/status-after.ts";
import { verdictOf } from "../../src/sync/verdict.ts";

const REVISION = `main@sha1:${"1".repeat(40)}`;
const OLD = `main@sha1:${"0".repeat(40)}`;
const NOW = "2026-01-02T00:00:00Z";

function repository(
  changes: { annotations?: Record<string, string>; status?: RepositoryStatus } = {},
): ObjectOf<"Repository"> {
  return {
    apiVersion: "sless.kube5s.ru/v1alpha1",
    kind: "Repository",
    metadata: {
      name: "site",
      namespace: "demo",
      uid: "uid",
      resourceVersion: "1",
      generation: 3,
      creationTimestamp: NOW,
      ...(changes.annotations && { annotations: changes.annotations }),
    },
    spec: { url: "/repo", interval: "2m" },
    ...(changes.status && { status: changes.status }),
  };
}

function run(changes: Partial<Run> = {}): Run {
  const memory = {
    uid: "uid",
    planner: createPlanner(),
    corrections: createCorrections(),
    opened: undefined,
    settled: undefined,
  };
  const base = startRun({
    repository: repository(),
    startedAt: new Date(NOW),
    memory,
    signal: new AbortController().signal,
  });
  return { ...base, ...changes };
}

const resolved = { commit: "1".repeat(40), tree: "2".repeat(40), name: "main", revision: REVISION };
const live = {
  apiVersion: "sless.kube5s.ru/v1alpha1",
  kind: "Function",
  metadata: { ...repository().metadata, name: "hello" },
  spec: { runtime: "python3.11" },
} as AnyObject;
const hold: Action = { kind: "hold", live, because: "guard" };
const remove: Action = { kind: "delete", live, allowedBy: "guard" };
const diagnostic: Diagnostic = {
  code: "yaml_syntax",
  file: "a/function.yaml",
  line: 3,
  column: 7,
  message: "It does not parse.",
};

function planned(actions: readonly Action[], diagnostics: readonly Diagnostic[] = []): Partial<Run> {
  const plan = { revision: REVISION, actions, release: [] };
  const desired = { revision: REVISION, objects: [], diagnostics, blocked: new Set<string>(), blocksPruning: false };
  return { resolved, attempted: true, desired, plan, owned: 2 };
}

function failing(doing: "upload" | "apply" | "mark" | "delete"): Partial<Run> {
  const error = new SlessError("conflict", { what: "Function/demo/hello" });
  return { failures: [{ doing, ref: { kind: "Function", namespace: "demo", name: "hello" }, error }] };
}

const failed = (code: ErrorCode, reason: Reason = "GitOperationFailed"): Outcome => ({
  kind: "failed",
  reason,
  error: new SlessError(code, { url: "/repo", cause: "it", path: "x", revision: REVISION, ref: "main" }),
});
const OK: Outcome = { kind: "ok" };

interface Case {
  run: Partial<Run>;
  outcome: Outcome;
  ready: string;
  /** Other conditions. */
  also?: string[];
  next: "done" | "after" | "backOff";
  isApplied?: boolean;
}

const cases: Record<string, Case> = {
  "a run without trouble applies its revision": {
    run: planned([]),
    outcome: OK,
    ready: "True ReconciliationSucceeded",
    next: "after",
    isApplied: true,
  },
  "a failed fetch is tried again": {
    run: {},
    outcome: failed("repository_unreachable"),
    ready: "False GitOperationFailed",
    also: ["Reconciling"],
    next: "backOff",
  },
  "a repository without a commit is looked at after the interval": {
    run: {},
    outcome: failed("repository_empty"),
    ready: "False GitOperationFailed",
    also: ["Stalled"],
    next: "after",
  },
  "an address that is none waits for another spec": {
    run: {},
    outcome: failed("repository_url_invalid"),
    ready: "False GitOperationFailed",
    also: ["Stalled"],
    next: "done",
  },
  "a missing path is attempted and tried again": {
    run: { resolved, attempted: true },
    outcome: failed("path_not_found", "BuildFailed"),
    ready: "False BuildFailed",
    also: ["Reconciling"],
    next: "backOff",
  },
  "faults of files wait for a commit": {
    run: planned([], [diagnostic]),
    outcome: OK,
    ready: "False BuildFailed",
    also: ["Stalled"],
    next: "after",
  },
  "held deletions wait for an approval": {
    run: planned([hold]),
    outcome: OK,
    ready: "False DeletionsHeld",
    also: ["Stalled"],
    next: "after",
  },
  "a source that was not stored is tried again": {
    run: { ...planned([]), ...failing("upload") },
    outcome: OK,
    ready: "False ArtifactFailed",
    also: ["Reconciling"],
    next: "backOff",
  },
  "an object that was not written is tried again": {
    run: { ...planned([]), ...failing("apply") },
    outcome: OK,
    ready: "False ReconciliationFailed",
    also: ["Reconciling"],
    next: "backOff",
  },
  "a mark that was not set is tried again": {
    run: { ...planned([hold]), ...failing("mark") },
    outcome: OK,
    ready: "False ReconciliationFailed",
    also: ["Reconciling"],
    next: "backOff",
  },
  "an object that was not deleted is tried again": {
    run: { ...planned([remove]), ...failing("delete") },
    outcome: OK,
    ready: "False PruneFailed",
    also: ["Reconciling"],
    next: "backOff",
  },
  "of two troubles the earlier step's is told": {
    run: { ...planned([hold], [diagnostic]), ...failing("apply") },
    outcome: OK,
    ready: "False ReconciliationFailed",
    also: ["Reconciling"],
    next: "backOff",
  },
  "a full disk while storing is told as that": {
    run: planned([]),
    outcome: failed("storage_unavailable", "ArtifactFailed"),
    ready: "False ArtifactFailed",
    also: ["Reconciling"],
    next: "backOff",
  },
};

describe("what a run comes to", () => {
  it.each(Object.entries(cases))(
    "%s",
    (_name, { run: changes, outcome, ready, also = [], next, isApplied = false }) => {
      const ended = run(changes);
      const status = statusAfter({ lastAppliedRevision: OLD }, ended, outcome, NOW);
      const [first, ...others] = status.conditions!;
      expect(`${first!.status} ${first!.reason}`).toBe(ready);
      expect(others.map(({ type, status }) => `${type} ${status}`)).toEqual(also.map((type) => `${type} True`));
      expect(status.lastAppliedRevision).toBe(isApplied ? REVISION : OLD);
      expect(status.lastFetchedRevision).toBe(ended.resolved && REVISION);
      expect(status.lastAttemptedRevision).toBe(ended.attempted && REVISION);
      expect(status.observedGeneration).toBe(3);
      const verdict = verdictOf(ended, outcome);
      expect(nextAfter(verdict, ended.repository)).toMatchObject(
        next === "after" ? { kind: next, ms: 120_000 } : { kind: next },
      );
    },
  );
});

it("the message of faults names the first place and counts the rest", () => {
  const { conditions } = statusAfter(undefined, run(planned([], [diagnostic, diagnostic, diagnostic])), OK, NOW);
  expect(conditions![0]!.message).toBe("a/function.yaml:3:7: It does not parse. (and 2 more)");
});

it("the same run told again gives the same status", () => {
  const first = statusAfter(undefined, run(planned([hold], [diagnostic])), OK, NOW);
  expect(statusAfter(first, run(planned([hold], [diagnostic])), OK, "2026-01-03T00:00:00Z")).toEqual(first);
});

it("the plan that did something stays until another does, or another revision comes", () => {
  const first = statusAfter(undefined, run(planned([remove])), OK, NOW);
  expect(first.plan?.counts.delete).toBe(1);
  expect(statusAfter(first, run(planned([])), OK, NOW).plan).toEqual(first.plan);
  const other = { ...planned([]), plan: { revision: OLD, actions: [], release: [] } };
  expect(statusAfter(first, run(other), OK, NOW).plan).toMatchObject({ revision: OLD, counts: { delete: 0 } });
});

it("a plan that holds nothing any more replaces one that did", () => {
  const first = statusAfter(undefined, run(planned([hold])), OK, NOW);
  expect(statusAfter(first, run(planned([])), OK, NOW).plan?.actions).toEqual([]);
});

it("the history keeps the last five, newest first, and no repetition", () => {
  let status: RepositoryStatus | undefined;
  for (let at = 0; at < 7; at += 1) {
    const revision = `main@sha1:${String(at).repeat(40)}`;
    const changes = { ...planned([]), resolved: { ...resolved, revision } };
    status = statusAfter(status, run(changes), OK, NOW);
    status = statusAfter(status, run(changes), OK, NOW);
  }
  expect(status?.history?.map(({ revision }) => revision.at(-1))).toEqual(["6", "5", "4", "3", "2"]);
});

it("a fault that is mended leaves no diagnostics behind", () => {
  const faulty = statusAfter(undefined, run(planned([], [diagnostic])), OK, NOW);
  expect(faulty.diagnostics).toEqual({ count: 1, items: [diagnostic] });
  expect(statusAfter(faulty, run(planned([])), OK, NOW)).not.toHaveProperty("diagnostics");
});

it("an unchanged run leaves the status as it is; one that somebody asked for notes that", () => {
  const before: RepositoryStatus = { observedGeneration: 3, lastAppliedRevision: OLD };
  expect(statusAfter(before, run({ resolved }), { kind: "unchanged" }, NOW)).toEqual(before);
  const asked = run({
    ...planned([]),
    repository: repository({ annotations: { "sless.kube5s.ru/requestedAt": "t1" } }),
  });
  expect(statusAfter(before, asked, OK, NOW).lastHandledReconcileAt).toBe("t1");
});

it("the path of webhooks is told while a secret for them is named, suspended or not", () => {
  const secret = { webhookSecretRef: { name: "hook" } };
  const told = (of: ReturnType<typeof repository>, before?: RepositoryStatus) => [
    statusAfter(before, run({ ...planned([]), repository: of }), OK, NOW),
    suspendedStatus({ ...of, ...(before && { status: before }) }, NOW),
  ];
  const named = { ...repository(), spec: { ...repository().spec, ...secret } };
  for (const status of told(named)) expect(status.webhookPath).toBe("/hooks/demo/site");
  const before: RepositoryStatus = { webhookPath: "/hooks/demo/site" };
  for (const status of told(repository(), before)) expect(status).not.toHaveProperty("webhookPath");
});

it("a suspended repository keeps what it last came to, and says that it rests", () => {
  const status = statusAfter(undefined, run(planned([])), OK, NOW);
  const suspended = suspendedStatus(repository({ status }), NOW);
  expect(suspended).toMatchObject({ ...status, conditions: [{ type: "Ready", status: "True", reason: "Suspended" }] });
  expect(suspendedStatus(repository(), NOW).conditions).toMatchObject([
    { type: "Ready", status: "Unknown" },
    { type: "Stalled", status: "True" },
  ]);
});
