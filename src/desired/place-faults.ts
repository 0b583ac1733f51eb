import { type ManifestObject, parseManifest } from "../manifest/index.ts";
import { readInBulk, sizesInBulk } from "./bulk.ts";
import type { ManifestContext } from "./manifest-files.ts";
import type { Workload } from "./workloads.ts";

/**
 * Tells diagnostics at the field that they are about. Positions are not kept for every field of every manifest, so
 * the files of the few faulty workloads are read once more.
 */
export async function placeFaults(
  { git, namespace, runtimes }: ManifestContext,
  workloads: readonly Workload[],
): Promise<Workload[]> {
  const ids = [...new Set(workloads.map(({ definition }) => definition.blob))];
  const texts = new Map<string, string>();
  await readInBulk(git, ids, await sizesInBulk(git, ids), (id, bytes) =>
    texts.set(id, new TextDecoder().decode(bytes)),
  );
  return workloads.map((workload) => {
    const { object, blob, index } = workload.definition;
    const manifest = { file: object.file, text: texts.get(blob)!, namespace, runtimes: [...runtimes.keys()] };
    return placedAt(workload, parseManifest(manifest).objects[index]!);
  });
}

function placedAt(workload: Workload, manifest: ManifestObject): Workload {
  const { line, column } = manifest.positionOf(["spec", workload.field!]);
  return { ...workload, diagnostics: workload.diagnostics.map((one) => ({ ...one, line, column })) };
}
