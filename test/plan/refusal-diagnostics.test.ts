import { expect, it } from "vitest";
import { planChanges, refusalDiagnostics } from "../../src/plan/index.ts";
import { fn, nobodys, request, service, theirs } from "./objects.ts";

const at = { file: "functions/hello/function.yaml", line: 1, column: 1 };

it.each([
  [
    "an object of another repository names that repository",
    [theirs(fn("hello"))],
    {
      ...at,
      code: "owned_elsewhere",
      message:
        "Function/default/hello belongs to another repository (team-b/functions). Rename it, or remove it there first.",
    },
  ],
  [
    "an object that was not adopted names what differs",
    [nobodys(fn("hello", { memoryMB: 512 }))],
    {
      ...at,
      code: "not_adopted",
      message:
        "Function/default/hello exists and nobody owns it, but it differs (memoryMB 512 → 128). Add the annotation sless.kube5s.ru/adopt: enabled to take it over.",
    },
  ],
  [
    "a taken name names who has it",
    [theirs(service("hello"))],
    {
      ...at,
      code: "name_taken",
      message:
        "The name of Function/default/hello is defined in Service/default/hello, which is there already. Rename one of them.",
    },
  ],
])("%s", (_name, live, expected) => {
  const plan = planChanges(request([fn("hello")], live));
  expect(refusalDiagnostics(plan, (uid) => (uid === "uid-theirs" ? "team-b/functions" : "?"))).toEqual([expected]);
});
