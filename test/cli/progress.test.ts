import { expect, it } from "vitest";
import type { Output } from "../../src/cli/io.ts";
import { openProgress } from "../../src/cli/progress.ts";
import { styleOf } from "../../src/cli/style.ts";
import type { ProgressEvent } from "../../src/report/index.ts";

function screen(columns?: number) {
  let text = "";
  const out: Output = {
    isTTY: columns !== undefined,
    columns,
    write(chunk) {
      text += String(chunk);
      return undefined;
    },
  };
  let now = 0;
  const progress = openProgress(out, styleOf(out, false), () => now);
  return {
    text: () => text,
    progress,
    passMinutes(minutes: number) {
      now += minutes * 60_000;
    },
  };
}

const repository = { namespace: "default", name: "example" };
const hello = { kind: "Function", namespace: "default", name: "hello" } as const;
const revision = `main@sha1:${"0123456789".repeat(4)}`;
const push: ProgressEvent[] = [
  { step: "fetched", repository, revision, durationMs: 3 },
  {
    step: "planned",
    repository,
    revision,
    changes: ["update Function/default/hello (code: handler.py)"],
    durationMs: 5.4,
  },
];
const stored: ProgressEvent = { step: "stored", object: hello, sourceDigest: "d", durationMs: 2 };
const applied: ProgressEvent = { step: "applied", repository, revision, objects: 1, durationMs: 4 };
const built: ProgressEvent = { step: "built", object: hello, imageRef: "i", reused: false, durationMs: 12 };
const serving: ProgressEvent = { step: "serving", object: hello, url: "http://a/fn/default/hello", durationMs: 1160 };

it("a push shows one chain for the function that changed, with a duration for each step", () => {
  const { progress, text } = screen();
  for (const event of [...push, stored, applied, built, serving]) progress.report(event);
  expect(text()).toMatchInlineSnapshot(`
    "main@sha1:0123456  fetched 3ms → planned 5ms → applied 4ms  1 written
    hello  fetched 3ms → planned 5ms → stored 2ms → built 12ms → serving 1.2s  http://a/fn/default/hello
    "
  `);
});

it("a function that starts again without a push has no steps of one", () => {
  const { progress, text } = screen();
  for (const event of [...push, stored, applied, built, serving, serving]) progress.report(event);
  expect(text().trim().split("\n").at(-1)).toBe("hello  serving 1.2s  http://a/fn/default/hello");
});

it("a second push begins a new chain", () => {
  const { progress, text } = screen();
  for (const event of [...push, stored, applied, built, serving, ...push, stored, applied, built, serving])
    progress.report(event);
  expect(text().match(/hello {2}fetched 3ms → planned 5ms → stored 2ms → built 12ms → serving 1.2s/g)).toHaveLength(2);
});

it("a failure shows how far it came, the reason and all lines of the message", () => {
  const { progress, text } = screen();
  const failed: ProgressEvent = {
    step: "failed",
    object: hello,
    reason: "BuildFailed",
    message: "No.\n\tat a.py\u001b[2J\n",
  };
  for (const event of [...push, stored, failed]) progress.report(event);
  expect(text()).toMatchInlineSnapshot(`
    "hello  fetched 3ms → planned 5ms → stored 2ms ✗ BuildFailed
        No.
        at a.py
    "
  `);
});

const crashed: ProgressEvent = { step: "failed", object: hello, reason: "CrashLoopBackOff", message: "It crashes." };
const again = "hello fails again as above; told no more till it changes\n";

it("what goes round in a circle is told once, and again when it was changed", () => {
  const { progress, text } = screen();
  for (const event of [crashed, serving, crashed, serving, crashed, serving]) progress.report(event);
  const once = `hello  ✗ CrashLoopBackOff\n    It crashes.\nhello  serving 1.2s  http://a/fn/default/hello\n${again}`;
  expect(text()).toBe(once);
  for (const event of [...push, stored, built, crashed]) progress.report(event);
  expect(text().slice(once.length)).toContain("built 12ms ✗ CrashLoopBackOff");
});

it("a build that fails at every try is told once, whatever its last lines, and its success is", () => {
  const { progress, text } = screen();
  for (const time of [1, 2, 3])
    progress.report({ step: "failed", object: hello, reason: "BuildFailed", message: `npm failed.\nlog ${time}` });
  expect(text()).toBe(`hello  ✗ BuildFailed\n    npm failed.\n    log 1\n${again}`);
  for (const event of [built, serving]) progress.report(event);
  expect(text()).toContain("hello  built 12ms → serving 1.2s");
});

it("a failure of yesterday is told again today", () => {
  const { progress, text, passMinutes } = screen();
  for (let day = 0; day < 3; day += 1) {
    progress.report(crashed);
    passMinutes(24 * 60);
  }
  expect(text().match(/It crashes/g)).toHaveLength(3);
});

it("what was deleted is waited for no more", () => {
  const { progress, text } = screen();
  for (const event of [...push, stored, { step: "deleted", object: hello } as const]) progress.report(event);
  progress.remind();
  expect(text()).toBe("deleted Function hello\n");
});

it("a failed repository is told by its name", () => {
  const { progress, text } = screen();
  progress.report({
    step: "failed",
    object: { kind: "Repository", ...repository },
    reason: "FetchFailed",
    message: "Gone.",
  });
  expect(text()).toBe("example  ✗ FetchFailed\n    Gone.\n");
});

it("jobs end with their result, deletions and notices are lines", () => {
  const { progress, text } = screen();
  const job = { kind: "FunctionJob", namespace: "default", name: "report" } as const;
  progress.report({ step: "finished", object: job, phase: "Succeeded", message: "42", durationMs: 70_000 });
  progress.report({ step: "finished", object: job, phase: "Failed", message: "oh\nno", durationMs: 10 });
  progress.report({ step: "deleted", object: hello });
  progress.report({ step: "notice", message: "Python 3.12 stands in for 3.11" });
  expect(text()).toMatchInlineSnapshot(`
    "report  succeeded 1m10s  42
    report  failed 10ms ✗ Failed
        oh
        no
    deleted Function hello
    Python 3.12 stands in for 3.11
    "
  `);
});

it("on a terminal what is on its way stands below and is replaced", () => {
  const { progress, text } = screen(80);
  for (const event of [...push, stored, built]) progress.report(event);
  expect(
    text().endsWith("\u001b[1A\u001b[Jhello  fetched 3ms → planned 5ms → stored 2ms → built 12ms → starting …\n"),
  ).toBe(true);
  progress.report(serving);
  progress.close();
  expect(
    text().endsWith(
      "\u001b[1A\u001b[Jhello  fetched 3ms → planned 5ms → stored 2ms → built 12ms → serving 1.2s  http://a/fn/default/hello\n",
    ),
  ).toBe(true);
});

it("a terminal never gets a live line that would wrap, and only the first of many", () => {
  const { progress, text } = screen(40);
  const many = Array.from({ length: 12 }, (_, index) => ({ ...hello, name: `f${index}` }));
  for (const object of many) progress.report({ ...built, object });
  const last = text().split("\u001b[J").at(-1)!.trimEnd().split("\n");
  expect(last).toHaveLength(9);
  expect(last.at(-1)).toBe("… and 4 more on their way");
  progress.report({ ...built, object: { ...hello, name: "f".repeat(40) } });
  progress.close();
  expect(text().endsWith("\u001b[9A\u001b[J")).toBe(true);
});

it("where nobody sees it standing below, what is on its way is told when asked", () => {
  const { progress, text } = screen();
  progress.remind();
  for (const event of [...push, stored]) progress.report(event);
  progress.remind();
  expect(text()).toBe("Waiting for hello (building)\n");
});

it("of many that are on their way the first are named and the others counted", () => {
  const { progress, text } = screen();
  for (let n = 0; n < 10_000; n += 1) progress.report({ ...built, object: { ...hello, name: `f${n}` } });
  progress.remind();
  expect(text()).toMatch(/^Waiting for f0 \(starting\), .*f7 \(starting\) and 9992 more\n$/);
});

it("ten thousand at once on a terminal take a time that grows with their number alone", () => {
  const seconds = (count: number) => {
    const { progress } = screen(120);
    const before = process.cpuUsage();
    for (let n = 0; n < count; n += 1) progress.report({ ...built, object: { ...hello, name: `f${n}` } });
    return process.cpuUsage(before).user / 1e6;
  };
  seconds(1_000);
  // Ten times as many; a hundred times the work would be a look at all of them with each.
  expect(seconds(10_000)).toBeLessThan(40 * Math.max(0.02, seconds(1_000)));
});

it("what has no last step is not waited for for ever", () => {
  const { progress, text, passMinutes } = screen();
  for (const event of [...push, stored]) progress.report(event);
  passMinutes(4);
  progress.remind();
  passMinutes(2);
  progress.remind();
  progress.settle();
  progress.remind();
  expect(text()).toBe("Waiting for hello (building)\n");
});
