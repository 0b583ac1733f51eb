import { expect, it } from "vitest";
import { nextAfterError } from "../../src/controller/index.ts";
import { SlessError } from "../../src/errors/index.ts";

it.each([
  ["what only a change of the object mends is not tried again", new SlessError("runtime_unknown"), { kind: "done" }],
  ["what waits for somebody is looked at later", new SlessError("deletions_held"), { kind: "after", ms: 60_000 }],
  ["what the world may mend backs off", new SlessError("repository_unreachable"), { kind: "backOff" }],
  ["an error without a row in the table backs off", new TypeError("boom"), { kind: "backOff" }],
  ["anything thrown backs off", undefined, { kind: "backOff" }],
])("%s", (_name, error, next) => {
  expect(nextAfterError(error)).toEqual(next);
});
