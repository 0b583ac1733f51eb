import { appendFileSync, renameSync, unlinkSync, writeFileSync } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import type { GitReader } from "../../../src/source/index.ts";
import { watchWorktree } from "../../../src/source/worktree/index.ts";
import { eventually } from "../../support/eventually.ts";
import { type Files, gitRepository, runGit } from "../../support/git-repository.ts";
import { openedWorktree } from "./open-worktree.ts";
import { treeOfGit } from "./tree-of-git.ts";

const NEVER = 3_600_000;

/** A work tree that is watched; each hint is answered as sync does it, by resolving. */
async function watched(files: Files, pollMs = NEVER) {
  const repository = await gitRepository(files);
  const { reader, worktree } = await openedWorktree(repository.dir);
  const states: string[] = [];
  const look = () =>
    reader.resolve({}).then(
      ({ tree }) => states.push(tree),
      () => states.push("failed"),
    );
  const onHint = () => void look();
  const watching = await watchWorktree({ worktree, onHint, pollMs });
  onTestFinished(() => watching.close());
  await eventually(
    "the first hint",
    () => states.length,
    (count) => count > 0,
  );
  states.length = 0;
  const hintAfter = async (what: string, change: () => Promise<unknown>) => {
    const before = states.length;
    await change();
    await eventually(
      what,
      () => states.length,
      (count) => count > before,
    );
  };
  const at = (path: string) => join(repository.dir, path);
  /** The state that was seen last; as sync does, it looks again after a look that failed. */
  const lastState = async () => {
    if (states.at(-1) === "failed") await look();
    return states.at(-1);
  };
  return { repository, reader, states, lastState, hintAfter, at, close: watching.close };
}

/** Texts of a folder's files by their names, in the work tree's present state. */
async function contentsBelow(reader: GitReader, folder: string): Promise<Record<string, string>> {
  const { tree } = await reader.resolve({});
  const { id } = (await reader.trees([tree])).get(tree)!.find(({ name }) => name === folder)!;
  const entries = (await reader.trees([id])).get(id)!;
  const blobs = await reader.blobs(entries.map((entry) => entry.id));
  return Object.fromEntries(entries.map((entry) => [entry.name, Buffer.from(blobs.get(entry.id)!).toString()]));
}

async function put(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}

/** How editors save `f.py` in a folder; each ends with the text "new". All at once, for an editor makes no pause. */
const SAVES: Record<string, (folder: string) => void> = {
  "in place"(folder) {
    writeFileSync(join(folder, "f.py"), "new");
  },
  "in place, in two writes"(folder) {
    writeFileSync(join(folder, "f.py"), "n");
    appendFileSync(join(folder, "f.py"), "ew");
  },
  "as vim does, with 4913, a swap file and a backup"(folder) {
    writeFileSync(join(folder, ".f.py.swp"), "swap");
    writeFileSync(join(folder, "4913"), "");
    unlinkSync(join(folder, "4913"));
    renameSync(join(folder, "f.py"), join(folder, "f.py~"));
    writeFileSync(join(folder, "f.py"), "new");
    unlinkSync(join(folder, "f.py~"));
    unlinkSync(join(folder, ".f.py.swp"));
  },
  "as JetBrains does, by two renames"(folder) {
    writeFileSync(join(folder, "f.py___jb_tmp___"), "new");
    renameSync(join(folder, "f.py"), join(folder, "f.py___jb_old___"));
    renameSync(join(folder, "f.py___jb_tmp___"), join(folder, "f.py"));
    unlinkSync(join(folder, "f.py___jb_old___"));
  },
  "as Emacs does, with an auto-save and a backup that stays"(folder) {
    writeFileSync(join(folder, "#f.py#"), "ne");
    renameSync(join(folder, "f.py"), join(folder, "f.py~"));
    writeFileSync(join(folder, "f.py"), "new");
    unlinkSync(join(folder, "#f.py#"));
  },
  "by an atomic rename over it"(folder) {
    writeFileSync(join(folder, ".goutputstream-X1"), "new");
    renameSync(join(folder, ".goutputstream-X1"), join(folder, "f.py"));
  },
  "by deleting and writing it"(folder) {
    unlinkSync(join(folder, "f.py"));
    writeFileSync(join(folder, "f.py"), "new");
  },
};

describe("saving a file", () => {
  it.each(Object.entries(SAVES))("%s ends in that state, with at most one more on the way", async (_, save) => {
    const { reader, states, at } = await watched({ "fn/f.py": "old", "fn/g.py": "other" });
    save(at("fn"));
    const latest = async () => contentsBelow(reader, "fn");
    const saved = { "f.py": "new", "g.py": "other" };
    await eventually("the new state", latest, (files) => isDeepStrictEqual(files, saved));
    await eventually(
      "its hint",
      () => states.length,
      (count) => count > 0,
    );
    expect(states.length).toBeLessThanOrEqual(2);
  });
});

it("new, moved and deleted files and folders hint, by events alone", async () => {
  const { at, hintAfter } = await watched({ a: "1", "d/x": "1" });
  await hintAfter("a new file", () => writeFile(at("b"), "1"));
  await hintAfter("a new folder", () =>
    mkdir(at("new/inner"), { recursive: true }).then(() => writeFile(at("new/inner/f"), "1")),
  );
  await hintAfter("a file in the new folder", () => writeFile(at("new/inner/g"), "1"));
  await hintAfter("a moved folder", () => rename(at("new"), at("moved")));
  await hintAfter("a file in the moved folder", () => writeFile(at("moved/inner/f"), "2"));
  await hintAfter("a deleted file", () => rm(at("a")));
  await hintAfter("a deleted folder", () => rm(at("moved"), { recursive: true }));
});

it("what git ignores makes no hint, until it is not ignored any more", async () => {
  const { repository, at, states, hintAfter } = await watched({ ".gitignore": "node_modules/\n*.log\n", a: "1" });
  await mkdir(at("node_modules/x"), { recursive: true });
  await writeFile(at("node_modules/x/index.js"), "1");
  await writeFile(at("debug.log"), "1");
  const edited = `${repository.dir}.edited`;
  await writeFile(edited, "2");
  // In one step, so that nobody sees it half done.
  await hintAfter("an edit", () => rename(edited, at("a")));
  expect(states).toHaveLength(1);
  await hintAfter("another ignore file", () => writeFile(at(".gitignore"), "*.log\n"));
  await hintAfter("a file that was ignored", () => writeFile(at("node_modules/x/index.js"), "2"));
});

it("what nobody tells is seen by looking: a file that git tracks though it ignores it", async () => {
  const { repository, at, hintAfter } = await watched({ ".gitignore": "*.log\n" }, 30);
  await writeFile(at("kept.log"), "1");
  await hintAfter("the file is added", () => repository.git("add", "--force", "kept.log"));
});

it("whatever is written, moved, deleted or ignored, the last hint is of the last state, by events alone", async () => {
  const path = fc.constantFrom("a", "b", "d/a", "d/e/a", "d/e/b", "n/a", "n/d/a");
  const folder = fc.constantFrom("d", "d/e", "n", "m");
  const rules = fc.constantFrom("", "n/", "a", "d/e", "*.x");
  const step = fc.oneof(
    fc.record({ do: fc.constant("write" as const), path, text: fc.constantFrom("1", "2", "33") }),
    fc.record({ do: fc.constant("delete" as const), path: fc.oneof(path, folder) }),
    fc.record({ do: fc.constant("move" as const), path: folder, to: fc.constantFrom("m", "n", "d/x") }),
    fc.record({ do: fc.constant("ignore" as const), path: fc.constantFrom(".gitignore", "d/.gitignore"), text: rules }),
  );
  const { repository, reader, at, states, lastState } = await watched({ a: "0", "d/e/a": "0", "kept/x": "0" });
  const steps = fc.array(step, { minLength: 1, maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(steps, fc.boolean(), async (all, isSlow) => {
      for (const one of all) {
        if (one.do === "delete") await rm(at(one.path), { recursive: true, force: true }).catch(() => {});
        else if (one.do === "move") await rename(at(one.path), at(one.to)).catch(() => {});
        else await put(at(one.path), one.text).catch(() => {});
        if (isSlow) await reader.resolve({});
      }
      const before = states.length;
      // So that it is another state than before.
      await put(at("kept/x"), `${before} ${JSON.stringify(all)}`);
      const tree = await treeOfGit(repository.dir);
      await eventually("the hint of the last state", lastState, (state) => state === tree);
    }),
    { numRuns: 25 },
  );
});

it("a checkout that changes 1,000 files ends in exactly that state, with few on the way", async () => {
  const files = (text: string) =>
    Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`d${n % 50}/f${n}`, `${text} ${n}`]));
  const { repository, states, lastState, reader } = await watched({ base: "1" });
  await repository.git("checkout", "--quiet", "-b", "many");
  await repository.commit("many", files("one"));
  await repository.commit("more", files("two"));
  for (const target of ["main", "many", "many~1", "main", "many"]) {
    const tree = await repository.git("rev-parse", `${target}^{tree}`);
    states.length = 0;
    await repository.git("checkout", "--quiet", "--detach", target);
    await eventually(`the tree of ${target}`, lastState, (state) => state === tree);
    expect(states.length).toBeLessThan(10);
  }
  expect((await reader.resolve({})).revision).toBe(`sha1:${await runGit(repository.dir, "rev-parse", "HEAD")}`);
});

it("a folder that goes and comes back hints, and is watched again", async () => {
  const { repository, at, states, hintAfter } = await watched({ a: "1" }, 30);
  await hintAfter("gone", () => rename(repository.dir, `${repository.dir}.away`));
  await eventually(
    "it is told",
    () => states.at(-1),
    (state) => state === "failed",
  );
  await hintAfter("back", () => rename(`${repository.dir}.away`, repository.dir));
  await hintAfter("an edit", () => writeFile(at("a"), "2"));
});

it("after closing there are no hints", async () => {
  const first = await watched({ a: "1" }, 20);
  await first.close();
  await writeFile(first.at("a"), "2");
  const second = await watched({ a: "1" }, 20);
  await second.hintAfter("an edit", () => writeFile(second.at("a"), "2"));
  expect(first.states).toEqual([]);
});
