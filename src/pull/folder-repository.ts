import { realpath } from "node:fs/promises";
import type { ObjectOf } from "../apis/index.ts";
import { plainPath } from "./folder-files.ts";
import { deeperOf, localPath, type PullFolder, refused } from "./open-folder.ts";
import { isSameRemote, parseAddress } from "./repository-address.ts";

type Repository = ObjectOf<"Repository">;

/**
 * The Repository whose checkout a folder is: the one of a name, or the only one with the URL of the folder's `origin`
 * or the path of the folder itself. Of several the one that follows the branch checked out, and a part of the
 * repository that the folder has to do with. undefined when no Repository is the folder's.
 *
 * @throws SlessError `usage_invalid` when no Repository has the name, or several remain
 */
export async function folderRepository(
  repositories: readonly Repository[],
  folder: PullFolder,
  name: string | undefined,
): Promise<Repository | undefined> {
  if (name !== undefined) {
    const named = repositories.find(({ metadata }) => metadata.name === name);
    if (named) return named;
    const known = repositories.map(({ metadata }) => metadata.name).join(", ") || "none";
    throw refused(`no repository is named ${name}; known here: ${known}`);
  }
  const same: Repository[] = [];
  for (const repository of repositories) if (await isOf(repository, folder)) same.push(repository);
  const fitting = narrowed(same, folder);
  if (fitting.length < 2) return fitting[0];
  const names = fitting.map(({ metadata }) => metadata.name).join(", ");
  throw refused(`several repositories follow this folder's (${names}); choose one with --repository`);
}

async function isOf({ spec }: Repository, { root, checkout }: PullFolder): Promise<boolean> {
  if (!checkout) return false;
  const address = parseAddress(spec.url);
  const origin = checkout.origin === undefined ? undefined : parseAddress(checkout.origin);
  if (address.kind === "remote") return origin !== undefined && isSameRemote(address, origin);
  const path = await real(address.path);
  if (checkout.paths.includes(path)) return true;
  return origin?.kind === "local" && (await real(localPath(origin.path, root))) === path;
}

function narrowed(repositories: readonly Repository[], { folder, checkout }: PullFolder): readonly Repository[] {
  const near = repositories.filter(({ spec }) => deeperOf(folder, plainPath(spec.path)) !== undefined);
  const some = near.length > 0 ? near : repositories;
  const onBranch = some.filter(({ spec }) => spec.ref?.branch === checkout?.branch);
  return some.length > 1 && onBranch.length > 0 ? onBranch : some;
}

async function real(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}
