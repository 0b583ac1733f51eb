import { expect, it } from "vitest";
import { findGit } from "../../../src/source/index.ts";
import { openNativeReader } from "../../../src/source/native/index.ts";
import { gitReaderContract } from "../../contract/git-reader.ts";

const git = await findGit(process.env.PATH);

it("git is on this machine's PATH", () => expect(git).toBeDefined());

gitReaderContract((repository) => openNativeReader({ repository, git: git! }), { unsupported: [] });
