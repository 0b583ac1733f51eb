import { type Diagnostic, type ObjectIntent, refOf, refText } from "../apis/index.ts";
import { isYamlName, looksLikeManifest, type ManifestObject, parseManifest } from "../manifest/index.ts";
import type { DesiredObject } from "../plan/index.ts";
import type { Runtime } from "../runtimes/index.ts";
import { createBreather, type GitObjects, type ObjectId, type TreeEntry } from "../source/index.ts";
import { readInBulk, sizesInBulk } from "./bulk.ts";
import { carriedOver, type Made, NOTHING_MADE } from "./carried-over.ts";
import { diagnosticOf, type Fault } from "./fault.ts";
import type { Walk, WalkedFolder } from "./folder-walk.ts";
import type { DesiredLimits } from "./limits.ts";
import { type ManifestBudget, manifestBudget } from "./manifest-budget.ts";
import { below, parentOf, resolveBelow } from "./paths.ts";

/** One document of a manifest, without the parser's tree: 10,000 of those would not fit into the memory we allow. */
export interface Definition {
  /** `refText` of the object. */
  readonly ref: string;
  /** Without its source. */
  readonly object: DesiredObject;
  /** Where it stands among the file's objects. */
  readonly index: number;
  readonly blob: ObjectId;
  /** Folder of its source below the root; undefined for objects without code. */
  readonly sourceFolder: string | undefined;
}

/** A YAML file as it was read once. */
export interface YamlFile {
  readonly file: string;
  readonly blob: ObjectId;
  readonly mode: TreeEntry["mode"];
  /** That were read of it; 0 when it was not opened. */
  readonly characters: number;
  /** Ours, so no part of a source; also when it is faulty. */
  readonly ours: boolean;
  /** `refText` of all that a faulty file names, as far as it can be read. */
  readonly named: readonly string[];
  readonly definitions: readonly Definition[];
  readonly diagnostics: readonly Diagnostic[];
}

export interface ManifestContext {
  readonly git: GitObjects;
  readonly namespace: string;
  readonly runtimes: ReadonlyMap<string, Runtime>;
  readonly limits: DesiredLimits;
}

/** Reads the YAML files of folders, and each of them again only when its blob changed. */
export function createManifestFiles(context: ManifestContext) {
  let known: Made<WalkedFolder, readonly YamlFile[]> = NOTHING_MADE;
  let last: readonly YamlFile[] = [];

  /**
   * In the order of the folders; the same array as before while no file changed.
   *
   * @throws SlessError `repository_too_large`
   */
  async function read({ folders, fresh }: Walk): Promise<readonly YamlFile[]> {
    const budget = manifestBudget(context.limits);
    const same = carriedOver(known, folders, (folder) => fresh.has(folder));
    for (const files of same) for (const file of files ?? []) keep(file, budget);
    const changed = folders.filter((_, index) => same[index] === undefined);
    const read = await readFolders(changed, budget);
    const values =
      changed.length === 0
        ? (same as (readonly YamlFile[])[])
        : folders.map((folder, index) => same[index] ?? read.get(folder)!);
    const files: YamlFile[] = [];
    for (const ofFolder of values) {
      for (const file of ofFolder) {
        budget.found(file.definitions.length);
        files.push(file);
      }
    }
    known = { items: folders, values };
    const isSame = files.length === last.length && files.every((file, at) => file === last[at]);
    if (!isSame) last = files;
    return last;
  }

  async function readFolders(
    folders: readonly WalkedFolder[],
    budget: ManifestBudget,
  ): Promise<Map<WalkedFolder, readonly YamlFile[]>> {
    const before = filesIn(new Set(folders.map(({ path }) => path)));
    const read = new Map<WalkedFolder, (YamlFile | undefined)[]>();
    const wanted: { folder: WalkedFolder; index: number; file: string; entry: TreeEntry }[] = [];
    for (const folder of folders) {
      const files: (YamlFile | undefined)[] = [];
      for (const entry of folder.entries) {
        if (entry.mode === "40000" || entry.mode === "160000" || !isYamlName(entry.name)) continue;
        const file = below(folder.path, entry.name);
        const same = before.get(file);
        const index = files.push(same?.blob === entry.id && same.mode === entry.mode ? same : undefined) - 1;
        if (files[index]) keep(files[index], budget);
        else wanted.push({ folder, index, file, entry });
      }
      // A copy is as large as it must be; an array that grew is not.
      read.set(folder, files.slice());
    }
    await readYaml({ ...context, budget }, wanted, (want, file) => {
      read.get(want.folder)![want.index] = file;
    });
    return read as Map<WalkedFolder, readonly YamlFile[]>;
  }

  /** By path, those of folders that are at these paths. */
  function filesIn(paths: ReadonlySet<string>): ReadonlyMap<string, YamlFile> {
    const files = new Map<string, YamlFile>();
    for (const [index, { path }] of known.items.entries())
      if (paths.has(path)) for (const file of known.values[index]!) files.set(file.file, file);
    return files;
  }

  return { read };
}

/** What is not read again counts all the same, so that a restart, which reads all, refuses nothing that went before. */
function keep({ characters, ours }: YamlFile, budget: ManifestBudget): void {
  budget.looked(characters);
  if (ours) budget.parsed(characters);
}

interface Wanted {
  readonly file: string;
  readonly entry: TreeEntry;
}

interface ReadingContext extends ManifestContext {
  readonly budget: ManifestBudget;
}

async function readYaml<W extends Wanted>(
  context: ReadingContext,
  wanted: readonly W[],
  done: (want: W, file: YamlFile) => void,
): Promise<void> {
  const { git, limits } = context;
  const regular: W[] = [];
  for (const want of wanted) {
    if (want.entry.mode === "120000") done(want, linkFile(want));
    else regular.push(want);
  }
  const sizes = await sizesInBulk(
    git,
    regular.map((want) => want.entry.id),
  );
  const readable: W[] = [];
  for (const want of regular) {
    const size = sizes.get(want.entry.id)!;
    if (size <= limits.maxSourceBytes) readable.push(want);
    else done(want, looksLikeManifest(want.file, "") ? tooLarge(want, limits) : dataFile(want));
  }
  const byBlob = Map.groupBy(readable, (want) => want.entry.id);
  const breathe = createBreather();
  await readInBulk(git, [...byBlob.keys()], sizes, async (id, bytes) => {
    const text = new TextDecoder().decode(bytes);
    for (const want of byBlob.get(id)!) {
      done(want, yamlFile(context, want, text));
      await breathe();
    }
  });
}

/** @throws SlessError `repository_too_large` */
function yamlFile(context: ReadingContext, want: Wanted, text: string): YamlFile {
  const { namespace, runtimes, budget } = context;
  budget.looked(text.length);
  if (!looksLikeManifest(want.file, text)) return { ...dataFile(want), characters: text.length };
  budget.parsed(text.length);
  const parsed = parseManifest({ file: want.file, text, namespace, runtimes: [...runtimes.keys()] });
  return {
    ...stamp(want),
    characters: text.length,
    ours: true,
    named: parsed.diagnostics.length > 0 ? parsed.named.map(refText) : [],
    definitions: parsed.objects.map((found, index) => definitionOf(want, found, index)),
    diagnostics: parsed.diagnostics,
  };
}

function definitionOf({ file, entry }: Wanted, { object, position }: ManifestObject, index: number): Definition {
  return {
    ref: refText(refOf(object)),
    object: { intent: object, file, line: position.line, column: position.column },
    index,
    blob: entry.id,
    sourceFolder: sourceFolderOf(file, object),
  };
}

/** Folder below the root whose files an object runs; undefined for objects without code of their own. */
export function sourceFolderOf(file: string, object: ObjectIntent): string | undefined {
  const spec = object.spec as { functionRef?: string; sourceDir?: string };
  if (object.kind === "Trigger" || object.kind === "Repository" || spec.functionRef !== undefined) return undefined;
  return resolveBelow(parentOf(file) ?? "", spec.sourceDir ?? "");
}

function stamp(want: Wanted) {
  return { file: want.file, blob: want.entry.id, mode: want.entry.mode, characters: 0 };
}

function dataFile(want: Wanted): YamlFile {
  return { ...stamp(want), ours: false, named: [], definitions: [], diagnostics: [] };
}

function faultyFile(want: Wanted, fault: Fault): YamlFile {
  return {
    ...stamp(want),
    ours: true,
    named: [],
    definitions: [],
    diagnostics: [diagnosticOf(fault, { file: want.file })],
  };
}

/** Too large to be looked into at all; what is merely too large for a manifest the parser tells. */
function tooLarge(want: Wanted, limits: DesiredLimits): YamlFile {
  return faultyFile(want, { code: "manifest_too_large", details: { limit: `${limits.maxSourceBytes} bytes` } });
}

/** A link may be data of a source; under a manifest's fixed name it would define objects that stand elsewhere. */
function linkFile(want: Wanted): YamlFile {
  if (!looksLikeManifest(want.file, "")) return dataFile(want);
  return faultyFile(want, { code: "source_unsupported", details: { path: want.file, what: "a symbolic link" } });
}
