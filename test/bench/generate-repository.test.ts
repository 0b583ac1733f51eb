import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";
import { changeOneFunction, generateRepository } from "../../bench/generate-repository.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

it("a generated repository has three files per function, and a change touches one of them", async () => {
  const folder = join(await temporaryFolder(), "generated.git");
  const git = (...args: string[]) =>
    execFileSync("git", ["-C", folder, ...args], { encoding: "utf8" })
      .trim()
      .split("\n");
  await generateRepository(folder, 3);
  expect(git("ls-tree", "-r", "--name-only", "main")).toHaveLength(9);
  await changeOneFunction(folder, 1);
  expect(git("diff", "--name-only", "main^", "main")).toEqual(["functions/f00000/handler.py"]);
});
