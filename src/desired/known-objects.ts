import { WORKLOAD_KINDS } from "../apis/index.ts";

/** What the last applied revision had in its files. */
export interface KnownObjects {
  /** `refText` of the objects by the file that held them. */
  readonly manifestFiles: ReadonlyMap<string, readonly string[]>;
}

export const NOTHING_KNOWN: KnownObjects = { manifestFiles: new Map() };

const WORKLOADS: ReadonlySet<string> = new Set(WORKLOAD_KINDS);

/** A `refText` names a workload. */
export function isWorkloadRefText(ref: string): boolean {
  return WORKLOADS.has(ref.slice(0, ref.indexOf("/")));
}
