import { expect, it } from "vitest";
import { gitRepository } from "./git-repository.ts";

it("commits files with their modes, and the same files make the same commit", async () => {
  const files = {
    "hello/handler.py": "x",
    "run.sh": { mode: "755", content: "#!/bin/sh\n" },
    link: { symlink: "hello/handler.py" },
    module: { submodule: "1".repeat(40) },
  } as const;
  const repository = await gitRepository(files);
  const listed = await repository.git("ls-tree", "-r", "HEAD");
  expect(listed.split("\n").map((line) => line.replace(/ \w+ \w+\t/, " "))).toEqual([
    "100644 hello/handler.py",
    "120000 link",
    "160000 module",
    "100755 run.sh",
  ]);
  expect((await gitRepository(files)).head).toBe(repository.head);
});

it("deletes the files that a change maps to null, and pushes to a bare repository", async () => {
  const repository = await gitRepository({ a: "1", b: "2" }, { bare: true });
  const second = await repository.commit("second", { a: null });
  expect(await repository.git("rev-parse", "main")).toBe(second);
  expect(await repository.git("ls-tree", "--name-only", "HEAD")).toBe("b");
  const clone = await repository.bareClone();
  const third = await repository.commit("third", { c: "3" });
  await clone.push();
  expect(await clone.git("rev-parse", "main")).toBe(third);
});
