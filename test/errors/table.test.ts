import { describe, expect, it } from "vitest";
import { ERRORS, type ErrorCode, SlessError } from "../../src/errors/index.ts";

const rows = Object.entries(ERRORS);

describe("the table of errors", () => {
  it.each(rows)("%s says what happened in a sentence and begins its remedy with a verb", (_code, row) => {
    expect(row.happened).toMatch(/\.$|\{cause\}\.?$/);
    expect(row.remedy).toMatch(
      /^(Check|Read|Correct|Choose|Change|Use|Call|Send|Look|Set|Try|Make|Install|Push|Run|Write|Split|Create|Remove|Rename|Restore|Name|Replace|Commit|Add|Start|Stop)\b/,
    );
  });

  it.each(rows)("%s leaves no placeholder open when its details are given", (code, row) => {
    const names = [...`${row.happened} ${row.remedy}`.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!);
    const error = new SlessError(code as ErrorCode, Object.fromEntries(names.map((name) => [name, `<${name}>`])));
    expect(error.message).not.toMatch(/\{\w+\}/);
    for (const name of names) expect(error.message).toContain(`<${name}>`);
  });

  it("a cause that ends with a full stop does not double it", () => {
    const happened = (cause: string) => new SlessError("usage_invalid", { cause, verb: "get" }).happened;
    expect(happened("The disk is full.")).toBe("The disk is full.");
    expect(happened("did you mean hello?")).toBe("did you mean hello?");
    expect(happened("3 of 4")).toBe("3 of 4.");
  });
});
