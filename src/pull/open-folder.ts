import { readFile, realpath, stat } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { SlessError } from "../errors/index.ts";
import { findGitDirectory, type GitReader } from "../source/index.ts";
import { contains, type ObjectFormat } from "./folder-files.ts";
import { originUrl } from "./origin-url.ts";
import { type Checkout, readCheckout } from "./tracked-files.ts";

/** A folder that is pulled into. */
export interface PullFolder {
  /** Top folder of the checkout, else the folder itself; absolute, without links. */
  readonly root: string;
  /** The folder below the root, "" = the root itself. */
  readonly folder: string;
  /** undefined: the folder belongs to no checkout. */
  readonly checkout: (GitPlace & Checkout) | undefined;
  readonly format: ObjectFormat;
}

/** Where a checkout has its parts. */
export interface GitPlace {
  /** Paths by which a Repository may name it: its top folder, its Git directory. */
  readonly paths: readonly string[];
  readonly origin: string | undefined;
  /** Text of `info/exclude`. */
  readonly exclude: string;
}

export interface OpenFolderOptions {
  /** Absolute; need not exist. */
  readonly into: string;
  /** Top folder of the repository that it belongs to, when it does. */
  readonly top: string | undefined;
  readonly openGit: (path: string) => Promise<GitReader>;
}

/** @throws SlessError `usage_invalid` for a file and for a place within Git's own files, and those of the GitReader */
export async function openFolder({ into, top, openGit }: OpenFolderOptions): Promise<PullFolder> {
  const place = await realPathOf(into);
  if (await isThereAndNoFolder(place)) throw refused(`${into} is no folder; name one, or a place where none is yet`);
  if (top === undefined) return { root: place, folder: "", checkout: undefined, format: "sha1" };
  const root = await realpath(top);
  const folder = relative(root, place).split(sep).join("/");
  const { gitDir, commonDir } = await findGitDirectory(root);
  const isOfGit = gitDir === root || folder.split("/").some((part) => part.toLowerCase() === ".git");
  if (isOfGit) throw refused(`${into} belongs to Git itself; name a folder that is checked out`);
  const git = await openGit(root);
  try {
    const checkout = { ...(await gitPlace(root, commonDir)), ...(await readCheckout(git, folder)) };
    return { root, folder, checkout, format: checkout.format };
  } finally {
    await git.close();
  }
}

/** A path without links, of which the last parts may not exist yet. */
async function realPathOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if ((code !== "ENOENT" && code !== "ENOTDIR") || dirname(path) === path) throw error;
    return join(await realPathOf(dirname(path)), basename(path));
  }
}

async function isThereAndNoFolder(path: string): Promise<boolean> {
  try {
    return !(await stat(path)).isDirectory();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT" && code !== "ENOTDIR") throw error;
    return code === "ENOTDIR";
  }
}

async function gitPlace(root: string, commonDir: string): Promise<GitPlace> {
  const [config, exclude] = await Promise.all(
    ["config", "info/exclude"].map((name) => readFile(join(commonDir, name), "utf8").catch(() => "")),
  );
  const real = await realpath(commonDir);
  const main = basename(real) === ".git" ? [dirname(real)] : [];
  return { paths: [root, real, ...main], origin: originUrl(config!), exclude: exclude! };
}

export function refused(cause: string): SlessError {
  return new SlessError("usage_invalid", { cause, verb: "pull" });
}

/** The deeper one of two folders, one of which must lie in the other. */
export function deeperOf(a: string, b: string): string | undefined {
  if (contains(a, b)) return b;
  return contains(b, a) ? a : undefined;
}

/** A local path of a remote, as the folder's own Git reads it. */
export function localPath(path: string, root: string): string {
  return resolve(root, path);
}
