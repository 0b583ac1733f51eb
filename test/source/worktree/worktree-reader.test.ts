import { describe } from "vitest";
import { gitReaderContract } from "../../contract/git-reader.ts";
import { openedWorktree } from "./open-worktree.ts";

describe("over a work tree without edits", () => {
  gitReaderContract(async (repository) => (await openedWorktree(repository)).reader, {
    unsupported: ["bare", "damage"],
  });
});
