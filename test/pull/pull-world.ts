import { lstat, mkdir, readdir, readFile, readlink, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type Kind, type ObjectIntent, type SpecOf, sourceKey, type WorkloadRef } from "../../src/apis/index.ts";
import { openLocalWorktree } from "../../src/app/open-git-reader.ts";
import type { PlanDocument } from "../../src/plan/index.ts";
import type { PullAction } from "../../src/pull/index.ts";
import { ServerError, type SlessClient } from "../../src/server/client.ts";
import { PLURALS } from "../../src/server/items.ts";
import { type ArchiveFile, blobId, findGit, packArchive, sourceDigest } from "../../src/source/index.ts";
import type { FileChange, Files } from "../support/git-repository.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { type CliRun, testCli } from "../support/test-cli.ts";
import { KEY, openGit, type SyncWorld, syncWorld, type WorldOptions } from "../sync/sync-world.ts";

const NAMESPACE = KEY.namespace;

/** One object of a pull's JSON summary. */
export interface PulledObject {
  readonly kind: Kind;
  readonly name: string;
  readonly action: PullAction;
  readonly path?: string;
  readonly reason?: string;
  readonly changes: readonly string[];
  readonly written: readonly string[];
  readonly removed: readonly string[];
  readonly kept: readonly string[];
}

export interface PullWorld extends SyncWorld {
  /** Objects whose sources were downloaded since the last look. */
  downloads(): string[];
  readonly client: Partial<SlessClient>;
  /** Any command line, with the folder's repository and this server. */
  sless(...args: string[]): Promise<CliRun>;
  /** `sless plan --server` of the work tree, or of another folder. */
  planned(folder?: string): Promise<PlanDocument & { code: number }>;
  /** `sless pull --into` the work tree, or another folder, and more arguments. */
  pull(...args: string[]): Promise<CliRun>;
  /** The same; `Function/hello created`, sorted, and the objects themselves. */
  pulled(...args: string[]): Promise<{ code: number; lines: string[]; objects: PulledObject[]; stderr: string }>;
  /** Makes or changes an object as the REST API does, with the files of its source. */
  write<K extends Kind>(kind: K, name: string, spec: Partial<SpecOf<K>>, files?: Files): Promise<void>;
  remove(kind: Kind, name: string): Promise<void>;
  /** A file of the work tree as text. */
  text(path: string): Promise<string>;
}

/** A synced repository, and a command line that pulls into its work tree. */
export async function pullWorld(files: Files, options: WorldOptions = {}): Promise<PullWorld> {
  const world = await syncWorld(files, options);
  if (world.git.head !== "") await world.sync();
  const downloads: string[] = [];
  const client: Partial<SlessClient> = {
    listObjects: async (plural) => (await world.store.list(PLURALS[plural], { namespace: NAMESPACE })).items as never,
    async source(plural, name) {
      const object = await world.get(PLURALS[plural], name);
      const { s3Key } = object!.spec as { s3Key?: string };
      downloads.push(name);
      const archive = s3Key === undefined ? undefined : await world.objects.get(s3Key);
      if (!archive) throw new ServerError(404, { error: "It is not there.", code: "source_unavailable" });
      return archive;
    },
  };
  const deps = { openGitReader: openGit, openWorktree };
  const sless = (...args: string[]) => testCli(args, { client, deps, env: { SLESS_NAMESPACE: NAMESPACE } });
  const pull = (...args: string[]) => {
    const into = args.includes("--into") ? [] : ["--into", world.git.work];
    return sless("pull", ...into, ...args);
  };
  return {
    ...world,
    downloads: () => downloads.splice(0),
    client,
    pull,
    sless,
    async planned(folder = world.git.work) {
      const { code, stdout } = await sless("plan", "--server", "--repo", folder, "-o", "json");
      return { code, ...(JSON.parse(stdout) as PlanDocument) };
    },
    async pulled(...args) {
      const { code, stdout, stderr } = await pull(...args, "-o", "json");
      const { objects } = JSON.parse(stdout || '{"objects":[]}') as { objects: PulledObject[] };
      return { code, stderr, objects, lines: objects.map(({ kind, name, action }) => `${kind}/${name} ${action}`) };
    },
    write: (kind, name, spec, source) => writeObject(world, { kind, name, spec }, source),
    async remove(kind, name) {
      const object = await world.get(kind, name);
      await world.store
        .patch(kind, key(name), { metadata: { finalizers: null } }, { owner: "reconciler" })
        .catch(() => {});
      await world.store.delete(kind, key(name), { uid: object!.metadata.uid });
    },
    text: (path) => readFile(join(world.git.work, path), "utf8"),
  };
}

const openWorktree = async (folder: string) => openLocalWorktree({ folder, git: await findGit(process.env.PATH) });

const key = (name: string) => ({ namespace: NAMESPACE, name });

async function writeObject(
  world: SyncWorld,
  { kind, name, spec }: { kind: Kind; name: string; spec: object },
  source?: Files,
): Promise<void> {
  const archive = source && archiveOf(source);
  const digest = archive && digestOf(archive);
  const s3Key = digest === undefined ? undefined : sourceKey({ kind, ...key(name) } as WorkloadRef, digest);
  if (s3Key !== undefined) await world.objects.put(s3Key, await packArchive(archive!));
  const wanted = { ...spec, ...(s3Key !== undefined && { s3Key }) };
  const present = await world.get(kind, name);
  if (present) await world.store.patch(kind, key(name), { spec: wanted }, { owner: "api" });
  else await world.store.create({ kind, metadata: key(name), spec: wanted } as ObjectIntent, { owner: "api" });
}

export function archiveOf(files: Files): ArchiveFile[] {
  return Object.entries(files).map(([path, change]) => ({ path, ...fileOf(change) }));
}

function fileOf(change: FileChange): Omit<ArchiveFile, "path"> {
  if (typeof change === "string") return { mode: "100644", content: Buffer.from(change) };
  if (change instanceof Uint8Array) return { mode: "100644", content: change };
  if (change && "symlink" in change) return { mode: "120000", content: Buffer.from(change.symlink) };
  if (change && "content" in change)
    return { mode: change.mode === "755" ? "100755" : "100644", content: Buffer.from(change.content) };
  throw new Error("no file of an archive");
}

function digestOf(archive: readonly ArchiveFile[]): string {
  return sourceDigest(archive.map(({ path, mode, content }) => ({ path, mode, id: blobId(content) })));
}

/** The files below a folder as git would have them, but for Git's own. */
export async function filesBelow(folder: string): Promise<Record<string, Exclude<FileChange, null>>> {
  const names = await readdir(folder, { recursive: true });
  const files: Record<string, Exclude<FileChange, null>> = {};
  for (const path of names.filter((name) => !name.split("/").includes(".git")).sort()) {
    const stat = await lstat(join(folder, path));
    if (stat.isSymbolicLink()) files[path] = { symlink: await readlink(join(folder, path)) };
    else if (stat.isFile()) {
      const content = await readFile(join(folder, path));
      files[path] = stat.mode & 0o100 ? { mode: "755", content } : content;
    }
  }
  return files;
}

/** Writes files below a folder; null deletes. */
export async function put(folder: string, files: Readonly<Record<string, string | { symlink: string } | null>>) {
  for (const [path, content] of Object.entries(files)) {
    const file = join(folder, path);
    await rm(file, { recursive: true, force: true });
    if (content === null) continue;
    await mkdir(dirname(file), { recursive: true });
    if (typeof content === "string") await writeFile(file, content);
    else await symlink(content.symlink, file);
  }
}

export async function emptyFolder(): Promise<string> {
  return join(await temporaryFolder(), "out");
}
