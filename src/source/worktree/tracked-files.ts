import { execFile } from "node:child_process";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { messageOf, SlessError } from "../../errors/index.ts";
import type { GitDirectory } from "../git-directory.ts";
import { gitEnvironment } from "../git-environment.ts";
import type { ObjectId, TreeMode } from "../git-reader.ts";
import type { HashName } from "./git-objects.ts";
import { type RawPath, rawParent } from "./raw-path.ts";

/** What Git's index says of a work tree. */
export interface TrackedFiles {
  /** Paths of files, also of those that are not on the disk. */
  readonly files: ReadonlySet<RawPath>;
  /** Every folder that has one of them below it. */
  readonly folders: ReadonlySet<RawPath>;
  /** Submodules: path → commit. */
  readonly submodules: ReadonlyMap<RawPath, ObjectId>;
  /** Files (and whole folders) that Git keeps out of the work tree: a sparse checkout. A commit has them all the same. */
  readonly keptOut: ReadonlyMap<RawPath, { readonly mode: TreeMode; readonly id: ObjectId }>;
  /** Sha1 while nothing is tracked. */
  readonly hash: HashName;
}

const OUTPUT_MAX_BYTES = 256 << 20;
const TIME_MAX_MS = 30_000;

/** Reads the index, again only when it changed. @throws SlessError `repository_unreachable` */
export function createTrackedFiles(git: string): (place: GitDirectory) => Promise<TrackedFiles> {
  let known: { readonly state: string; readonly tracked: TrackedFiles } | undefined;

  return async (place) => {
    const state = await stateOf(join(place.gitDir, "index"));
    if (known?.state !== state) known = { state, tracked: parse(await list(git, place)) };
    return known.tracked;
  };
}

async function stateOf(index: string): Promise<string> {
  const found = await stat(index).catch(() => undefined);
  return found ? `${index} ${found.ino} ${found.size} ${found.mtimeMs}` : index;
}

async function list(git: string, { repository, gitDir }: GitDirectory): Promise<string> {
  const args = [
    `--git-dir=${gitDir}`,
    "-C",
    repository,
    "-c",
    "core.fsmonitor=false",
    "ls-files",
    "-z",
    "-t",
    "--stage",
  ];
  const options = { env: gitEnvironment(git), timeout: TIME_MAX_MS, maxBuffer: OUTPUT_MAX_BYTES } as const;
  return new Promise((resolve, reject) => {
    execFile(git, args, { ...options, encoding: "latin1" }, (error, stdout, stderr) => {
      if (!error) return resolve(stdout);
      const cause = stderr.trim() || messageOf(error);
      reject(new SlessError("repository_unreachable", { url: repository, cause }, { cause: error }));
    });
  });
}

function parse(listed: string): TrackedFiles {
  const files = new Set<RawPath>();
  const folders = new Set<RawPath>();
  const submodules = new Map<RawPath, ObjectId>();
  const keptOut = new Map<RawPath, { mode: TreeMode; id: ObjectId }>();
  let hash: HashName = "sha1";
  for (const line of listed.split("\0")) {
    const [, tag, mode, id, name] = /^(.) (\d+) ([0-9a-f]+) \d\t(.*)$/s.exec(line) ?? [];
    if (id === undefined || name === undefined) continue;
    const path = name.replace(/\/$/, "");
    if (id.length === 64) hash = "sha256";
    for (let folder = rawParent(path); folder !== "" && !folders.has(folder); folder = rawParent(folder))
      folders.add(folder);
    if (mode === "160000") submodules.set(path, id);
    else files.add(path);
    if (tag === "S") keptOut.set(path, { mode: mode === "040000" ? "40000" : (mode as TreeMode), id });
  }
  return { files, folders, submodules, keptOut, hash };
}
