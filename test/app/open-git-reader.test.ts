import { expect, it } from "vitest";
import { openLocalReader } from "../../src/app/open-git-reader.ts";
import { findGit } from "../../src/source/index.ts";
import { gitRepository } from "../support/git-repository.ts";

it("git reads what isomorphic-git refuses, and without git the refusal says what to install", async () => {
  const repository = await gitRepository({ a: "1" }, { objectFormat: "sha256" });
  const reader = await openLocalReader({ repository: repository.dir, git: await findGit(process.env.PATH) });
  expect(await reader.resolve({})).toMatchObject({ revision: `main@sha256:${repository.head}` });
  await reader.close();
  await expect(openLocalReader({ repository: repository.dir, git: undefined })).rejects.toThrow(
    expect.objectContaining({ code: "repository_unsupported", remedy: expect.stringContaining("git") }),
  );
});
