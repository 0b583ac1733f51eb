import { expect, it } from "vitest";
import { missingHandler } from "../../src/desired/handler-file.ts";

const python = { handlerExtensions: [".py"] };
const node = { handlerExtensions: [".js", ".mjs", ".cjs"] };
const cases: [string | undefined, typeof python, string, boolean][] = [
  [undefined, python, "handler.py", true],
  ["handler.handle", node, "handler.mjs", true],
  ["handler:handle", python, "handler.py", true],
  ["src/handler.handle", python, "src/handler.py", true],
  ["./src/handler.handle", python, "src/handler.py", true],
  ["app.handler.handle", python, "app/handler.py", true],
  ["handler.js:handle", node, "handler.js", true],
  ["handler.handle", python, "handler/__init__.py", true],
  ["handler.handle", node, "handler/index.js", true],
  ["handler.handle", python, "Handler.py", false],
  ["handler.handle", node, "handler.py", false],
  ["../handler.handle", python, "handler.py", false],
];

it.each(cases)("%s is found by %o in %s: %s", (entrypoint, runtime, file, isFound) => {
  expect(missingHandler(entrypoint, runtime, (path) => path === file) === undefined).toBe(isFound);
});

it("the message names every file that would do", () => {
  expect(missingHandler("main.run", node, () => false)).toBe(
    "The entry point main.run needs one of main.js, main.mjs, main.cjs, which is not in the source",
  );
});
