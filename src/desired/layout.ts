import { nameClashes } from "../plan/index.ts";
import type { KnownObjects } from "./known-objects.ts";
import type { Definition, YamlFile } from "./manifest-files.ts";
import { divideSources, type SourceFolders } from "./source-folders.ts";

/** What the YAML files of a revision say together; made anew only when one of them changed. */
export interface Layout {
  readonly faulty: readonly YamlFile[];
  /** Files that held objects and name none any more: no manifests, or emptied ones. */
  readonly former: readonly YamlFile[];
  /** Of all files without a fault. */
  readonly definitions: readonly Definition[];
  readonly clashes: ReturnType<typeof nameClashes>;
  /** Paths of all manifests, faulty ones too. */
  readonly manifests: ReadonlySet<string>;
  readonly divided: SourceFolders;
}

interface OfFiles extends Omit<Layout, "former" | "divided"> {
  readonly files: readonly YamlFile[];
  /** Without a fault and without an object: data, and manifests that hold nothing. */
  readonly others: readonly YamlFile[];
}

export function createLayouts() {
  let last: { readonly ofFiles: OfFiles; readonly layout: Layout } | undefined;

  /** @param files the same array while no file changed */
  return function layoutOf(files: readonly YamlFile[], known: KnownObjects): Layout {
    const ofFiles = last?.ofFiles.files === files ? last.ofFiles : readFiles(files);
    const former = ofFiles.others.filter((file) => (known.manifestFiles.get(file.file)?.length ?? 0) > 0);
    // Without faults nothing depends on what the files held before.
    const isSame = last?.ofFiles === ofFiles && former.length + last.layout.former.length + ofFiles.faulty.length === 0;
    if (last && isSame) return last.layout;
    const paths = former.map(({ file }) => file);
    const layout: Layout = { ...ofFiles, former, divided: divideSources(files, paths, known.manifestFiles) };
    last = { ofFiles, layout };
    return layout;
  };
}

function readFiles(files: readonly YamlFile[]): OfFiles {
  return {
    files,
    others: files.filter((file) => isSound(file) && file.definitions.length === 0),
    faulty: files.filter((file) => !isSound(file)),
    definitions: files.filter(isSound).flatMap(({ definitions }) => definitions),
    clashes: nameClashes(files.flatMap((file) => file.definitions.map(({ object }) => object))),
    manifests: new Set(files.filter(({ ours }) => ours).map(({ file }) => file)),
  };
}

function isSound(file: YamlFile): boolean {
  return file.diagnostics.length === 0;
}
