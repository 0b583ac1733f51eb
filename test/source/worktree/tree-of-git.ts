import { copyFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { runGit } from "../../support/git-repository.ts";

/** The tree that git itself would commit of a work tree, without a change to its index. */
export async function treeOfGit(folder: string): Promise<string> {
  const index = join(await runGit(folder, "rev-parse", "--absolute-git-dir"), "index");
  const isKept = await copyFile(index, `${index}.kept`).then(
    () => true,
    () => false,
  );
  try {
    await runGit(folder, "-c", "advice.addEmbeddedRepo=false", "add", "--all");
    return await runGit(folder, "write-tree");
  } finally {
    if (isKept) await copyFile(`${index}.kept`, index);
    else await rm(index);
  }
}
