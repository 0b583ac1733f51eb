import { findGitDirectory, type GitDirectory } from "../git-directory.ts";
import type { ObjectId } from "../git-reader.ts";
import { closedReader } from "../read-all.ts";
import type { GitObject } from "../resolve-ref.ts";
import { checkSupported } from "./check-supported.ts";
import { openObjectReader } from "./object-reader.ts";

/** A repository that isomorphic-git can read, as long as it is one. */
export interface PlainRepository {
  /** Looks again where the repository is: it may be gone, or made anew in another form. */
  place(): Promise<GitDirectory>;
  /** Objects in bulk; answers the ids that are missing or corrupt. */
  objects(ids: readonly ObjectId[], visit: (id: ObjectId, object: GitObject) => void): Promise<ObjectId[]>;
  /** Drops what is kept in memory. */
  close(): void;
}

/** @throws SlessError `repository_unreachable`, `repository_unsupported`, as its functions do */
export async function openPlainRepository(repository: string): Promise<PlainRepository> {
  let at = await findGitDirectory(repository);
  await checkSupported(at);
  let reader = openObjectReader(at);
  let isClosed = false;

  async function place(): Promise<GitDirectory> {
    if (isClosed) throw closedReader(repository);
    const found = await findGitDirectory(repository);
    await checkSupported(found);
    if (found.gitDir !== at.gitDir) {
      at = found;
      reader = openObjectReader(at);
    }
    return at;
  }

  return {
    place,
    async objects(ids, visit) {
      if (isClosed) throw closedReader(repository);
      const missing = await reader.read(ids, visit);
      if (missing.length > 0) await place(); // a repository that is gone says so itself
      return missing;
    },
    close() {
      isClosed = true;
      reader = openObjectReader(at);
    },
  };
}
