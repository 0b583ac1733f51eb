import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AuditEntry } from "./cluster.ts";

const POLICY = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules: [{level: Metadata}]
`;

interface Event {
  readonly verb: string;
  readonly requestURI: string;
  readonly user: { readonly username: string };
  readonly userAgent?: string;
  readonly objectRef?: { resource?: string; subresource?: string; namespace?: string; name?: string };
  readonly responseStatus?: { readonly code: number };
  readonly requestReceivedTimestamp: string;
}

export async function writeAuditPolicy(folder: string): Promise<void> {
  await writeFile(join(folder, "audit-policy.yaml"), POLICY);
}

/** Every line that is whole; the API server may be writing the next. */
export async function readAuditLog(folder: string): Promise<AuditEntry[]> {
  const text = await readFile(join(folder, "audit.log"), "utf8");
  const lines = text.slice(0, text.lastIndexOf("\n")).split("\n");
  return lines.filter((line) => line !== "").map((line) => toEntry(JSON.parse(line) as Event));
}

function toEntry(event: Event): AuditEntry {
  return {
    verb: event.verb,
    requestURI: event.requestURI,
    user: event.user.username,
    userAgent: event.userAgent ?? "",
    resource: event.objectRef?.resource,
    subresource: event.objectRef?.subresource,
    namespace: event.objectRef?.namespace,
    name: event.objectRef?.name,
    status: event.responseStatus?.code ?? 0,
    at: Date.parse(event.requestReceivedTimestamp),
  };
}
