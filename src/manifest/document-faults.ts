import { API_VERSION, type Fault, type Kind, managedFieldFaults, manifestFaults, runtimeFault } from "../apis/index.ts";
import type { Diagnostics } from "./diagnostics.ts";
import type { DocumentContext } from "./document.ts";
import { metadataFaults } from "./metadata-faults.ts";
import { offsetAt, plainTextAt } from "./place.ts";
import { writtenAs } from "./plain-scalar.ts";
import type { Path, ValueFault } from "./read-value.ts";
import { schemaType } from "./schema-type.ts";

/** A document whose YAML parses, with all that its faults are told by. */
export interface CheckedDocument {
  readonly manifest: Readonly<Record<string, unknown>>;
  /** undefined: the kind is not known, so only the faults of the YAML itself can be told. */
  readonly kind: Kind | undefined;
  readonly contents: unknown;
  readonly found: readonly ValueFault[];
  readonly context: DocumentContext;
}

/** Reports every fault of a document, each place once. */
export function reportFaults(document: CheckedDocument, diagnostics: Diagnostics): void {
  for (const fault of document.found) reportValueFault(fault, document, diagnostics);
  if (document.kind === undefined) return;
  reportNamespace(document, diagnostics);
  const reported = new Set(document.found.map(({ path }) => textOf(path)));
  for (const fault of allFaults(document.kind, document)) {
    if (reported.has(textOf(fault.path))) continue;
    reportFault(fault, document, diagnostics);
  }
}

function reportNamespace({ manifest, contents, context }: CheckedDocument, diagnostics: Diagnostics): void {
  const { namespace } = asMap(manifest.metadata);
  if (typeof namespace !== "string" || namespace === context.namespace) return;
  const offset = offsetAt(contents, ["metadata", "namespace"]);
  diagnostics.add("namespace_foreign", offset, { namespace: namespace.slice(0, 80), expected: context.namespace });
}

function reportValueFault(fault: ValueFault, { kind, contents }: CheckedDocument, diagnostics: Diagnostics): void {
  const { path, message, text = "", isKey } = fault;
  const offset = fault.kind === "syntax" || isKey ? fault.offset : offsetAt(contents, path);
  const wanted = kind && !isKey ? schemaType(kind, path) : "string";
  const written = fault.kind === "ambiguous" ? writtenAs(text, wanted) : undefined;
  if (written !== undefined) {
    const quoted = isKey ? `${written}:` : written;
    reportAmbiguous(diagnostics, offset, path, { text, cause: message, quoted });
  } else if (fault.kind === "ambiguous") {
    diagnostics.tell("manifest_invalid", offset, withPath(path, `wants a value of type ${wanted}, not ${text}`));
  } else diagnostics.tell("yaml_syntax", offset, withPath(path, message));
}

/** A longer scalar is cut, and only told to be quoted. */
const TEXT_MAX = 60;

function reportAmbiguous(
  diagnostics: Diagnostics,
  offset: number,
  path: Path,
  { text, cause, quoted }: { text: string; cause: string; quoted: string },
): void {
  const isLong = text.length > TEXT_MAX;
  const value = withPath(path, isLong ? `${text.slice(0, TEXT_MAX)}…` : text || "nothing");
  diagnostics.add("yaml_ambiguous", offset, { value, cause, quoted: isLong ? "it in quotes" : quoted });
}

function allFaults(kind: Kind, { manifest, context }: CheckedDocument): Fault[] {
  // A wrong apiVersion is told already, and better.
  const isKnown = manifest.apiVersion === API_VERSION;
  const faults = manifestFaults(kind, isKnown ? manifest : { ...manifest, apiVersion: API_VERSION });
  const metadata = asMap(manifest.metadata);
  const spec = asMap(manifest.spec);
  const runtime = typeof spec.runtime === "string" ? runtimeFault(spec.runtime, context.runtimes) : undefined;
  const ownFaults = metadataFaults({ labels: textsOf(metadata.labels), annotations: textsOf(metadata.annotations) });
  return [...faults, ...ownFaults, ...managedFieldFaults(spec), ...(runtime ? [runtime] : [])];
}

function asMap(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

function textsOf(value: unknown): Record<string, string> {
  const texts = Object.entries(asMap(value)).filter((entry): entry is [string, string] => typeof entry[1] === "string");
  return Object.fromEntries(texts);
}

/** What a text is wanted for but YAML reads as something else. */
const READ_AS: Readonly<Record<string, string>> = {
  number: "a number",
  boolean: "a boolean",
  object: "nothing (null)",
};

function reportFault(fault: Fault, document: CheckedDocument, diagnostics: Diagnostics): void {
  const { path } = fault;
  const offset = offsetAt(document.contents, path);
  const text = fault.wants && plainTextAt(document.contents, path);
  if (!text || fault.wants !== "string") {
    const message = text === "" ? "is empty; give it a value" : fault.message;
    diagnostics.tell("manifest_invalid", offset, withPath(path, message));
    return;
  }
  const readAs = READ_AS[typeof valueAt(document.manifest, path)] ?? "something else";
  const cause = `${readAs} where a text is wanted`;
  reportAmbiguous(diagnostics, offset, path, { text, cause, quoted: JSON.stringify(text) });
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((inner, part) => (inner as Record<string | number, unknown> | undefined)?.[part], value);
}

function withPath(path: Path, message: string): string {
  const text = textOf(path);
  return text ? `${text}: ${message}` : message;
}

/** `spec.env.GREETING`, `spec.items[0]`. */
function textOf(path: Path): string {
  return path
    .map((part, index) => (typeof part === "number" ? `[${part}]` : index === 0 ? part : `.${part}`))
    .join("")
    .slice(0, 300);
}
