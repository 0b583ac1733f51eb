import { createHash } from "node:crypto";
import type { ObjectId, TreeMode } from "../git-reader.ts";
import type { RawPath } from "./raw-path.ts";

/** What the repository names its objects by. */
export type HashName = "sha1" | "sha256";

export interface RawEntry {
  readonly name: RawPath;
  readonly mode: TreeMode;
  readonly id: ObjectId;
}

/** Entries as Git sorts them: by bytes, a folder as if its name ended in a slash. */
export function inGitsOrder(entries: readonly RawEntry[]): RawEntry[] {
  const key = ({ name, mode }: RawEntry) => (mode === "40000" ? `${name}/` : name);
  return [...entries].sort((a, b) => (key(a) < key(b) ? -1 : 1));
}

/** The id that Git gives a tree of these entries, which are in its order. */
export function treeId(entries: readonly RawEntry[], hash: HashName): ObjectId {
  const parts = entries.map(({ name, mode, id }) => `${mode} ${name}\0${Buffer.from(id, "hex").toString("latin1")}`);
  const content = Buffer.from(parts.join(""), "latin1");
  return startObject("tree", content.length, hash).update(content).digest("hex");
}

/** A hash that wants the content of an object. */
export function startObject(type: "blob" | "tree", bytes: number, hash: HashName) {
  return createHash(hash).update(`${type} ${bytes}\0`);
}

export function blobIdOf(content: Uint8Array, hash: HashName): ObjectId {
  return startObject("blob", content.length, hash).update(content).digest("hex");
}
