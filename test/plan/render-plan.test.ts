import { describe, expect, it } from "vitest";
import { ANNOTATIONS, type Diagnostic } from "../../src/apis/index.ts";
import {
  changesBetween,
  type Plan,
  type PlannedBuild,
  planChanges,
  planCounts,
  renderPlan,
} from "../../src/plan/index.ts";
import { fn, nobodys, ours, request, service, source, state, trigger } from "./objects.ts";

const fault: Diagnostic = {
  code: "manifest_invalid",
  file: "functions/bad/function.yaml",
  line: 6,
  column: 3,
  message: "spec.memoryMb: unknown field; did you mean memoryMB?",
};

/** A plan with an action of every kind but `wait`. */
const plan: Plan = planChanges(
  request(
    [
      fn("code", {}, { source: source("two") }),
      fn("created"),
      fn("field", { memoryMB: 256, env: { GREETING: "Good day" } }),
      fn("same"),
      fn("taken", { memoryMB: 256 }),
      fn("adopted"),
      fn("kept", { memoryMB: 256 }, { annotations: { [ANNOTATIONS.reconcile]: "disabled" } }),
    ],
    [
      ours(fn("code")),
      ours(fn("field", { memoryMB: 128 })),
      ours(fn("same")),
      nobodys(fn("taken")),
      nobodys(fn("adopted")),
      ours(fn("kept")),
      ours(trigger("gone")),
    ],
  ),
);
const text = (options: Partial<Parameters<typeof renderPlan>[1]> = {}) =>
  renderPlan(plan, { format: "text", color: false, diagnostics: [], ...options });

describe("as text", () => {
  it("is one line per object that is not unchanged, the faults and the sum", () => {
    expect(text({ diagnostics: [fault] })).toMatchInlineSnapshot(`
      "~ Function/default/adopted   adopt: nobody owned it   (functions/adopted/function.yaml:1)
      ~ Function/default/code   code   (functions/code/function.yaml:1)
      + Function/default/created   (functions/created/function.yaml:1)
      ~ Function/default/field   memoryMB 128 → 256, env.GREETING unset → "Good day"   (functions/field/function.yaml:1)
      = Function/default/kept   left alone: sless.kube5s.ru/reconcile is disabled   (functions/kept/function.yaml)
      ! Function/default/taken   refused: it exists, nobody owns it, and it differs: memoryMB 128 → 256   (functions/taken/function.yaml:1)
      - Trigger/default/gone   (functions/gone/function.yaml)
      functions/bad/function.yaml:6:3: spec.memoryMb: unknown field; did you mean memoryMB?
      1 to create, 2 to update (1 code, 1 configuration), 1 to adopt, 1 to delete, 1 refused, 1 left alone, 1 unchanged, 1 fault
      "
    `);
  });

  it("says so when there is nothing to do", () => {
    const nothing = changesBetween(state([fn("a")]), state([fn("a")]));
    expect(renderPlan(nothing, { format: "text", color: false, diagnostics: [] })).toBe("1 unchanged\n");
    const empty = changesBetween(undefined, state([]));
    expect(renderPlan(empty, { format: "text", color: false, diagnostics: [] })).toBe("nothing there, nothing to do\n");
  });

  it("says what waits, and for what", () => {
    const waiting = planChanges(request([fn("a")], [ours(service("a"))]));
    expect(renderPlan(waiting, { format: "text", color: false, diagnostics: [] })).toMatchInlineSnapshot(`
      "! Function/default/a   waits until Service/default/a is deleted   (functions/a/function.yaml:1)
      - Service/default/a   (functions/a/function.yaml)
      1 to delete, 1 waiting
      "
    `);
  });

  it("has colours only where they are wanted, and each ends with its line", () => {
    expect(text()).not.toContain("\x1b");
    const lines = text({ color: true, diagnostics: [fault] })
      .trimEnd()
      .split("\n");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are control characters
    for (const line of lines.slice(0, -1)) expect(line).toMatch(/^\x1b\[3\dm[^\x1b]+\x1b\[0m$/);
  });
});

describe("as JSON", () => {
  it("is a document with counts, every action and the diagnostics", () => {
    const document = JSON.parse(renderPlan(plan, { format: "json", color: false, diagnostics: [fault] }));
    expect(document.revision).toBe(plan.revision);
    expect(document.counts).toEqual(planCounts(plan));
    expect(document.diagnostics).toEqual([fault]);
    expect(document.actions).toHaveLength(plan.actions.length);
    const of = (name: string) => document.actions.find((action: { name: string }) => action.name === name);
    const where = (name: string) => ({
      kind: "Function",
      namespace: "default",
      name,
      file: `functions/${name}/function.yaml`,
      line: 1,
    });
    expect(of("created")).toEqual({ action: "create", ...where("created") });
    expect(of("field")).toEqual({
      action: "update",
      ...where("field"),
      classes: ["configuration"],
      changes: [
        { path: "spec.memoryMB", before: 128, after: 256 },
        { path: "spec.env.GREETING", after: "Good day" },
      ],
    });
    expect(of("taken")).toMatchObject({ action: "refuse", because: "not adopted" });
    expect(of("gone")).toEqual({
      action: "delete",
      kind: "Trigger",
      namespace: "default",
      name: "gone",
      file: "functions/gone/function.yaml",
    });
    expect(of("same")).toEqual({ action: "unchanged", ...where("same") });
  });
});

describe("as Markdown", () => {
  const markdown = (shown: Plan, diagnostics: readonly Diagnostic[] = []) =>
    renderPlan(shown, { format: "markdown", color: false, diagnostics });

  it("is the sum, the faults and a table", () => {
    expect(markdown(plan, [fault])).toMatchInlineSnapshot(`
      "### sless plan

      1 to create, 2 to update (1 code, 1 configuration), 1 to adopt, 1 to delete, 1 refused, 1 left alone, 1 unchanged, 1 fault

      **Faults**

      - \`functions/bad/function.yaml:6:3: spec.memoryMb: unknown field; did you mean memoryMB?\`

      | | Object | Change | File |
      |---|---|---|---|
      | adopt | \`Function/default/adopted\` | \`nobody owned it\` | \`functions/adopted/function.yaml:1\` |
      | update | \`Function/default/code\` | \`code\` | \`functions/code/function.yaml:1\` |
      | create | \`Function/default/created\` |  | \`functions/created/function.yaml:1\` |
      | update | \`Function/default/field\` | \`memoryMB 128 → 256, env.GREETING unset → "Good day"\` | \`functions/field/function.yaml:1\` |
      | leave | \`Function/default/kept\` | \`sless.kube5s.ru/reconcile is disabled\` | \`functions/kept/function.yaml\` |
      | refuse | \`Function/default/taken\` | \`it exists, nobody owns it, and it differs: memoryMB 128 → 256\` | \`functions/taken/function.yaml:1\` |
      | delete | \`Trigger/default/gone\` |  | \`functions/gone/function.yaml\` |
      "
    `);
  });

  it("is only the sum when nothing changes", () => {
    expect(markdown(changesBetween(state([fn("a")]), state([fn("a")])))).toBe("### sless plan\n\n1 unchanged\n");
  });

  it("stays below 60 KiB, keeps room for the table, and says what it leaves out", () => {
    const many = changesBetween(undefined, state(Array.from({ length: 5_000 }, (_, index) => fn(`f${index}`))));
    const result = markdown(
      many,
      Array.from({ length: 5_000 }, () => fault),
    );
    expect(Buffer.byteLength(result)).toBeLessThanOrEqual(60 * 1024);
    expect(result).toMatch(/… and \d+ more faults; `sless plan` shows them all\.\n/);
    expect(result).toMatch(/… and \d+ more objects; `sless plan` shows them all\.\n$/);
    expect(result).toContain("| create | `Function/default/f0` |");
  });
});

describe("with builds", () => {
  const builds = new Map<string, PlannedBuild>([
    ["Function/default/code", { kind: "append", reason: "only code changed" }],
    ["Function/default/created", { kind: "deps", reason: "requirements.txt is new" }],
    ["Function/default/field", { kind: "none", reason: "the image exists" }],
    [
      "Function/default/adopted",
      { kind: "full", reason: "requirements.txt line 1 (-e\u202e|`.`) installs the source" },
    ],
  ]);
  const rowOf = (output: string, name: string) => output.split("\n").find((line) => line.includes(`/${name}`));

  it("text has the build and why, and the sum how many of each", () => {
    const shown = text({ builds });
    expect(rowOf(shown, "code")).toBe(
      "~ Function/default/code   code   append: only code changed   (functions/code/function.yaml:1)",
    );
    expect(rowOf(shown, "created")).toContain("   deps + append: requirements.txt is new   ");
    expect(rowOf(shown, "field")).toContain("   no build: the image exists   ");
    expect(rowOf(shown, "adopted")).toContain("full: requirements.txt line 1 (-e\\u202e|`.`) installs the source");
    expect(rowOf(shown, "gone")).toBe("- Trigger/default/gone   (functions/gone/function.yaml)");
    expect(shown.trimEnd()).toMatch(/1 unchanged; builds: 1 no build, 1 append, 1 deps \+ append, 1 full$/);
  });

  it("JSON has them as data", () => {
    const { actions } = JSON.parse(text({ format: "json", builds }));
    const of = (name: string) => actions.find((action: { name: string }) => action.name === name);
    expect(of("code").build).toEqual({ kind: "append", reason: "only code changed" });
    expect(of("created").build).toEqual({ kind: "deps", reason: "requirements.txt is new" });
    expect(of("gone")).not.toHaveProperty("build");
  });

  it("Markdown has a column of them", () => {
    const shown = text({ format: "markdown", builds });
    expect(shown).toContain("\n| | Object | Change | Build | File |\n|---|---|---|---|---|\n");
    expect(rowOf(shown, "code")).toContain("| `code` | `append: only code changed` |");
    const cells = rowOf(shown, "adopted")!.replaceAll("\\|", "").split("|").slice(1, -1);
    expect(cells).toHaveLength(5);
    for (const cell of cells.slice(1)) expect(outsideCode(cell.trim())).toBe("");
  });
});

describe("with hostile names and values", () => {
  const hostile = [
    "](http://evil.example) @everyone #1",
    "` | <script>alert(1)</script> | `",
    "``` \n\n# heading\n\r",
    "\x1b[2J\x1b]0;title\x07",
    "\u202eevil\u2066",
    "a|b\\|c",
    "x".repeat(100_000),
  ];
  const changes = hostile.map((value, index) =>
    fn(`f${index}`, { env: { A: value } }, { file: `${value.slice(0, 50)}/function.yaml` }),
  );
  const shown = changesBetween(state(hostile.map((_, index) => fn(`f${index}`))), state(changes));
  const diagnostics = hostile.map((message) => ({ ...fault, file: message.slice(0, 50), message }));

  it("text has no control characters and one line per object", () => {
    const result = renderPlan(shown, { format: "text", color: false, diagnostics });
    expect(result).not.toMatch(/[^\P{Cc}\n]|\p{Cf}/u);
    expect(result.split("\n")).toHaveLength(hostile.length * 2 + 2);
  });

  it("Markdown keeps every value within its code span and cell", () => {
    const result = renderPlan(shown, { format: "markdown", color: false, diagnostics });
    const rows = result.split("\n").filter((line) => line.startsWith("| update"));
    expect(rows).toHaveLength(hostile.length);
    for (const row of rows) {
      // Split at pipes that are not escaped, as a table is.
      const cells = row.replaceAll("\\|", "").split("|").slice(1, -1);
      expect(cells).toHaveLength(4);
      for (const cell of cells.slice(1)) expect(outsideCode(cell.trim())).toBe("");
    }
    for (const line of result.split("\n").filter((one) => one.startsWith("- ")))
      expect(outsideCode(line.slice(2))).toBe("");
  });

  it("long values are cut", () => {
    const result = renderPlan(shown, { format: "text", color: false, diagnostics: [] });
    expect(Math.max(...result.split("\n").map((line) => line.length))).toBeLessThan(400);
  });
});

/** What is left of a Markdown text when its code spans are taken out, by CommonMark's rule: equal runs of backticks. */
function outsideCode(text: string): string {
  return text.replace(/(?<!`)(`+)(?!`)[\s\S]*?(?<!`)\1(?!`)/g, "");
}
