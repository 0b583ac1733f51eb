import { access, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { WorkloadRef } from "../../apis/index.ts";
import { workloadOfPath, workloadPath } from "./workload-path.ts";

/** Folders in which something of a workload is kept as `<namespace>/<Kind>-<name><suffix>`. */
export type Shelves = readonly { readonly folder: string; readonly suffix: string }[];

/** Workloads of which something is kept. */
export async function keptWorkloads(shelves: Shelves): Promise<WorkloadRef[]> {
  const lists = shelves.map(async ({ folder, suffix }) => {
    const namespaces = await readdir(folder).catch(() => []);
    return (await Promise.all(namespaces.map((namespace) => workloadsOf(folder, namespace, suffix)))).flat();
  });
  return (await Promise.all(lists)).flat();
}

async function workloadsOf(folder: string, namespace: string, suffix: string): Promise<WorkloadRef[]> {
  const names = await readdir(join(folder, namespace)).catch(() => []);
  return names
    .filter((name) => name.endsWith(suffix))
    .map((name) => workloadOfPath(namespace, name.slice(0, name.length - suffix.length)))
    .filter((ref) => ref !== undefined);
}

export async function isKept(workload: WorkloadRef, shelves: Shelves): Promise<boolean> {
  const path = workloadPath(workload);
  const found = shelves.map(({ folder, suffix }) =>
    access(join(folder, path + suffix)).then(
      () => true,
      () => false,
    ),
  );
  return (await Promise.all(found)).includes(true);
}
