import { WORKLOAD_KINDS } from "../apis/index.ts";

/** What the last applied revision had in its files. */
export interface KnownObjects {
  /** `refText` of the objects by the file that held them. */
  readonly manifestFiles: ReadonlyMap<string, readonly string[]>;
}

export const NOTHING_KNOWN: KnownObjects = { manifestFiles: new Map() };

/** @param standing objects, by `refText`, each with the file that held it */
export function knownObjects(standing: Iterable<readonly [ref: string, file: string]>): KnownObjects {
  const byFile = Map.groupBy(standing, ([, file]) => file);
  return { manifestFiles: new Map([...byFile].map(([file, held]) => [file, held.map(([ref]) => ref)])) };
}

const WORKLOADS: ReadonlySet<string> = new Set(WORKLOAD_KINDS);

/** A `refText` names a workload. */
export function isWorkloadRefText(ref: string): boolean {
  return WORKLOADS.has(ref.slice(0, ref.indexOf("/")));
}
