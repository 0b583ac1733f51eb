import { NAME_PATTERN, NAMESPACE_PATTERN, refText, WORKLOAD_KINDS, type WorkloadRef } from "../../apis/index.ts";
import { SlessError } from "../../errors/index.ts";

/**
 * `<namespace>/<Kind>-<name>`: where something of a workload lies below a folder.
 *
 * @throws SlessError `invalid_request` for names that no object can have, so that no path escapes
 */
export function workloadPath(ref: WorkloadRef): string {
  if (!new RegExp(NAMESPACE_PATTERN).test(ref.namespace) || !new RegExp(NAME_PATTERN).test(ref.name)) {
    throw new SlessError("invalid_request", { cause: `${JSON.stringify(refText(ref))} is no workload` });
  }
  return `${ref.namespace}/${ref.kind}-${ref.name}`;
}

/** The workload of such a path; undefined when it is none. */
export function workloadOfPath(namespace: string, entry: string): WorkloadRef | undefined {
  const dash = entry.indexOf("-");
  const kind = WORKLOAD_KINDS.find((known) => known === entry.slice(0, dash));
  return kind && { kind, namespace, name: entry.slice(dash + 1) };
}
