import { expect, it } from "vitest";
import { nameClashes } from "../../src/plan/index.ts";
import { fn, job, service, trigger } from "./objects.ts";

it("finds nothing where every name is used once", () => {
  const objects = [fn("a"), service("b"), job("a"), trigger("a")];
  expect(nameClashes(objects)).toEqual({ diagnostics: [], blocked: new Set() });
});

it("tells both files of two manifests with one name, each at its own place", () => {
  const { diagnostics, blocked } = nameClashes([
    { ...fn("a", {}, { file: "x/function.yaml" }), line: 2 },
    { ...fn("a", {}, { file: "y/function.yaml" }), line: 7, column: 3 },
  ]);
  const message = "Function a is defined in x/function.yaml:2 and y/function.yaml:7. Rename one of them.";
  expect(diagnostics).toEqual([
    { code: "name_taken", file: "x/function.yaml", line: 2, column: 1, message },
    { code: "name_taken", file: "y/function.yaml", line: 7, column: 3, message },
  ]);
  expect(blocked).toEqual(new Set(["Function/default/a"]));
});

it("tells a Function and a Service of one name, for they share an address", () => {
  const { diagnostics, blocked } = nameClashes([
    fn("a", {}, { file: "x.yaml" }),
    service("a", {}, { file: "y.yaml" }),
    fn("b"),
  ]);
  expect(diagnostics.map(({ message }) => message)).toEqual([
    "Function and Service a is defined in x.yaml:1 and y.yaml:1. Rename one of them.",
    "Function and Service a is defined in x.yaml:1 and y.yaml:1. Rename one of them.",
  ]);
  expect(blocked).toEqual(new Set(["Function/default/a", "Service/default/a"]));
});

it("tells a name that stands three times in three places", () => {
  expect(nameClashes([trigger("a"), trigger("a"), trigger("a")]).diagnostics).toHaveLength(3);
});
