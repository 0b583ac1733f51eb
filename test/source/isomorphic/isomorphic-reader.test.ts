import { openIsomorphicReader } from "../../../src/source/isomorphic/index.ts";
import { gitReaderContract } from "../../contract/git-reader.ts";

gitReaderContract((repository) => openIsomorphicReader({ repository }), {
  unsupported: ["worktree", "alternates", "sha256"],
});
