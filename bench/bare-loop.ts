/**
 * The least that any reader of a repository does: read all trees and all manifests with an adapter of GitReader, and
 * parse the YAML to plain values. Baseline of `cold plan`. Usage: bare-loop.ts <repository> native|isomorphic
 */
import { parseAllDocuments } from "yaml";
import { openLocalReader } from "../src/app/open-git-reader.ts";
import { findGit, readTreesBelow } from "../src/source/index.ts";

const [repository = "", adapter = "native"] = process.argv.slice(2);
const git = adapter === "native" ? await findGit(process.env.PATH) : undefined;
const reader = await openLocalReader({ repository, git });
const { tree } = await reader.resolve({ branch: "main" });
const trees = await readTreesBelow(reader, tree, { isKnown: () => false });
const manifests = [...trees.values()].flat().filter(({ name }) => name === "function.yaml");
const blobs = await reader.blobs(manifests.map(({ id }) => id));
let documents = 0;
for (const bytes of blobs.values()) {
  for (const document of parseAllDocuments(Buffer.from(bytes).toString("utf8"))) {
    document.toJS();
    documents += 1;
  }
}
await reader.close();
console.log(`${documents} documents`);
