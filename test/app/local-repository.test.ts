import { expect, it } from "vitest";
import { localRepository } from "../../src/app/local-repository.ts";
import { gitRepository } from "../support/git-repository.ts";

it("a work tree is refused without git, and told what to install", async () => {
  const { dir } = await gitRepository({ a: "1" });
  const opening = localRepository({ path: dir, worktree: true, excluded: [], searchPath: "" });
  await expect(opening).rejects.toMatchObject({
    code: "repository_unsupported",
    message: expect.stringMatching(/a work tree needs git\. Install git/),
  });
});
