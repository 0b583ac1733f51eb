import { type Document, isMap, isScalar } from "yaml";
import {
  API_VERSION,
  GROUP,
  isKind,
  KIND_NAMES,
  type Kind,
  nearestName,
  type ObjectIntent,
  type ObjectRef,
  REPOSITORY_CONTENT_KINDS,
} from "../apis/index.ts";
import type { Diagnostics } from "./diagnostics.ts";
import { reportFaults } from "./document-faults.ts";
import { offsetAt } from "./place.ts";
import { readValue } from "./read-value.ts";
import { reportSyntax } from "./syntax.ts";

/** What a document of our group holds. */
export interface ReadDocument {
  /** As far as kind and name can be read. */
  readonly ref?: ObjectRef;
  /** Without a fault only. */
  readonly object?: ObjectIntent;
}

/** For what a document is checked. */
export interface DocumentContext {
  readonly namespace: string;
  readonly runtimes: readonly string[];
}

/** Reads one document and reports its faults; undefined for one that is empty or of another group. */
export function readDocument(
  document: Document.Parsed,
  context: DocumentContext,
  diagnostics: Diagnostics,
): ReadDocument | undefined {
  const { contents } = document;
  const parses = reportSyntax(document, diagnostics);
  if (!parses) return { ref: refIn(readValue(contents).value, context) };
  if (isEmpty(contents) || isOfAnotherGroup(contents)) return undefined;
  const { value, faults } = readValue(contents);
  const ref = refIn(value, context);
  const start = offsetAt(contents, []);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    diagnostics.tell(
      "manifest_invalid",
      start,
      "a manifest is a map of apiVersion, kind, metadata and spec; write one",
    );
    return {};
  }
  const manifest = value as Record<string, unknown>;
  const before = diagnostics.count;
  const kind = knownKind(manifest, contents, diagnostics);
  reportFaults({ manifest, kind, contents, found: faults, context }, diagnostics);
  if (kind === undefined || diagnostics.count > before) return { ref };
  return { ref, object: intentOf(kind, manifest as unknown as ObjectIntent, context.namespace) };
}

function isEmpty(contents: unknown): boolean {
  return contents === null || (isScalar(contents) && contents.type === "PLAIN" && contents.value === "");
}

function isOfAnotherGroup(contents: unknown): boolean {
  const version = isMap(contents) ? contents.get("apiVersion") : undefined;
  return typeof version === "string" && version !== "" && version.split("/")[0] !== GROUP;
}

/** The kind, when it is one that a repository may hold; else a fault tells. */
function knownKind(manifest: Record<string, unknown>, contents: unknown, diagnostics: Diagnostics): Kind | undefined {
  const { kind, apiVersion } = manifest;
  if (apiVersion !== API_VERSION) {
    const message = isMissing(apiVersion) ? "is missing; add" : `${shown(apiVersion)} is not known; write`;
    diagnostics.tell(
      "manifest_invalid",
      offsetAt(contents, ["apiVersion"]),
      `apiVersion: ${message} apiVersion: ${API_VERSION}`,
    );
  }
  const at = offsetAt(contents, ["kind"]);
  const known = REPOSITORY_CONTENT_KINDS.join(", ");
  if (isMissing(kind)) diagnostics.tell("manifest_invalid", at, `kind: is missing; add one of ${known}`);
  else if (!isKind(kind)) {
    const near = typeof kind === "string" ? nearestName(kind, KIND_NAMES) : undefined;
    diagnostics.add("kind_unknown", at, {
      kind: shown(kind),
      known: near ? `${known} (did you mean ${near}?)` : known,
    });
  } else if (!isContentKind(kind)) diagnostics.add("kind_not_allowed", at, { kind });
  else return kind;
  return undefined;
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null;
}

function isContentKind(kind: Kind): boolean {
  return (REPOSITORY_CONTENT_KINDS as readonly Kind[]).includes(kind);
}

function shown(value: unknown): string {
  return typeof value === "string" ? value.slice(0, 80) : String(JSON.stringify(value)).slice(0, 80);
}

function refIn(value: unknown, { namespace }: DocumentContext): ObjectRef | undefined {
  const { kind, metadata } = (value ?? {}) as { kind?: unknown; metadata?: { name?: unknown } | null };
  const name = metadata?.name;
  if (!isKind(kind) || !isContentKind(kind) || typeof name !== "string" || name === "") return undefined;
  return { kind, namespace, name };
}

function intentOf(kind: Kind, { metadata, spec }: ObjectIntent, namespace: string): ObjectIntent {
  const { name, labels, annotations } = metadata;
  return {
    kind,
    metadata: { name, namespace, ...(labels && { labels }), ...(annotations && { annotations }) },
    spec,
  };
}
