import { copyFile, link, lstat, mkdir, readdir, readlink, rm, symlink } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { IMAGE_PATHS } from "../plan/index.ts";
import type { LayerRemovals } from "./unpack-layer.ts";

/** A layer in a folder of its own, which stays as long as an image is made of it. */
export interface UnpackedLayer extends LayerRemovals {
  readonly folder: string;
}

const LINKS_AT_ONCE = 32;
const DEPS = IMAGE_PATHS.deps.slice(1);
const ROOT = dirname(IMAGE_PATHS.out);

/**
 * Puts layers on each other in a folder, as an image has them. Their files are shared, not copied: a layer that is nothing but
 * dependencies by one link, the others file by file. Nothing is reached through a link of a layer.
 */
export async function stackLayers(layers: readonly UnpackedLayer[], target: string): Promise<void> {
  const shared = await sharedDependencies(layers);
  for (const layer of layers) {
    for (const path of layer.emptied) await clearFolder(target, path);
    for (const path of layer.removed) await removePath(target, path);
    if (!(await isFolder(layer.folder))) throw new Error("a layer of the image is gone");
    if (layer !== shared && (await isFolder(join(layer.folder, "sless"))))
      await merge(join(layer.folder, "sless"), join(target, "sless"));
  }
  if (!shared) return;
  // The other layers may have put a link on the way there.
  for (const path of [ROOT, IMAGE_PATHS.out]) await makeFolder(join(target, path));
  const place = join(target, DEPS);
  await rm(place, { recursive: true, force: true });
  await symlink(relative(join(target, IMAGE_PATHS.out), join(shared.folder, DEPS)), place);
}

/** The only layer with dependencies, when it has nothing else and nobody takes anything from it. */
async function sharedDependencies(layers: readonly UnpackedLayer[]): Promise<UnpackedLayer | undefined> {
  if (layers.some(({ removed, emptied }) => removed.length + emptied.length > 0)) return undefined;
  const filled: UnpackedLayer[] = [];
  for (const layer of layers) {
    const deps = await realPath(layer.folder, DEPS.split("/"));
    if (deps !== undefined && (await namesIn(deps)).length > 0) filled.push(layer);
  }
  const [only, ...others] = filled;
  if (!only || others.length > 0) return undefined;
  const isPure = (await namesIn(join(only.folder, "sless"))).join() === "image";
  return isPure && (await namesIn(join(only.folder, IMAGE_PATHS.out))).join() === "deps" ? only : undefined;
}

async function namesIn(folder: string): Promise<string[]> {
  return (await isFolder(folder)) ? readdir(folder) : [];
}

async function isFolder(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined))?.isDirectory() ?? false;
}

/** In place of a file or a link, too. */
async function makeFolder(at: string): Promise<void> {
  if (await isFolder(at)) return;
  await rm(at, { force: true });
  await mkdir(at);
}

async function merge(from: string, to: string): Promise<void> {
  await makeFolder(to);
  const entries = await readdir(from, { withFileTypes: true });
  const others = entries.filter((entry) => !entry.isDirectory());
  for (let start = 0; start < others.length; start += LINKS_AT_ONCE) {
    const some = others.slice(start, start + LINKS_AT_ONCE);
    await Promise.all(some.map(({ name }) => share(join(from, name), join(to, name))));
  }
  for (const entry of entries) if (entry.isDirectory()) await merge(join(from, entry.name), join(to, entry.name));
}

async function share(from: string, to: string): Promise<void> {
  await rm(to, { recursive: true, force: true });
  if ((await lstat(from)).isSymbolicLink()) return symlink(await readlink(from), to);
  // A file system may have no such links, or no more of them for one file.
  await link(from, to).catch(() => copyFile(from, to));
}

async function clearFolder(root: string, path: string): Promise<void> {
  const folder = await realPath(root, path.split("/"));
  for (const name of folder === undefined ? [] : await namesIn(folder))
    await rm(join(folder!, name), { recursive: true, force: true });
}

async function removePath(root: string, path: string): Promise<void> {
  const parts = path.split("/");
  const parent = await realPath(root, parts.slice(0, -1));
  if (parent !== undefined) await rm(join(parent, parts.at(-1)!), { recursive: true, force: true });
}

/** The folder, when the way to it is one of folders alone. */
async function realPath(root: string, parts: readonly string[]): Promise<string | undefined> {
  let at = root;
  for (const part of parts) {
    at = join(at, part);
    if (!(await isFolder(at))) return undefined;
  }
  return at;
}
