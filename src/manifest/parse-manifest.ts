import type { Document } from "yaml";
import type { ObjectIntent, ObjectRef } from "../apis/index.ts";
import { messageOf } from "../errors/index.ts";
import { collectDiagnostics, type Diagnostics } from "./diagnostics.ts";
import { type DocumentContext, readDocument } from "./document.ts";
import type { ManifestObject, ParsedManifest, Position } from "./manifest.ts";
import { offsetAt, placesIn } from "./place.ts";
import { reportCharacters } from "./syntax.ts";
import { hasMoreTokens, parseDocuments } from "./yaml-documents.ts";

/** A larger file, or one with more documents, is no manifest that a person keeps by hand. */
export const MANIFEST_MAX_CHARACTERS = 262_144;
export const MANIFEST_MAX_DOCUMENTS = 200;
/** The largest manifest of short names and values has two for five characters; beyond this is hardly anything but marks. */
const TOKENS_MAX = 150_000;

export interface ManifestFile extends DocumentContext {
  /** Path below the repository's root, for the diagnostics. */
  readonly file: string;
  readonly text: string;
  /** The Repository's: filled in, and the only one that a document may name. */
  readonly namespace: string;
  /** Names of the known runtimes. */
  readonly runtimes: readonly string[];
}

/**
 * The objects of a manifest file, and all its faults. Documents of other groups are not ours and are passed over,
 * empty ones too. Never throws, whatever the text; pure.
 */
export function parseManifest(manifest: ManifestFile): ParsedManifest {
  const text = withoutMark(manifest.text);
  const placeOf = placesIn(text);
  const diagnostics = collectDiagnostics(manifest.file, placeOf);
  const objects: ManifestObject[] = [];
  const named: ObjectRef[] = [];
  for (const [index, document] of documentsOf(text, diagnostics).entries()) {
    const read = readDocument(document, manifest, diagnostics);
    if (read?.ref) named.push(read.ref);
    if (!read?.object) continue;
    const position = placeOf(offsetAt(document.contents, ["kind"]));
    objects.push(manifestObject(read.object, position, text, index));
  }
  return { objects, named, diagnostics: diagnostics.list() };
}

function withoutMark(text: string): string {
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}

function documentsOf(text: string, diagnostics: Diagnostics): Document.Parsed[] {
  if (text.length > MANIFEST_MAX_CHARACTERS) {
    diagnostics.add("manifest_too_large", 0, { limit: `${MANIFEST_MAX_CHARACTERS / 1024} KiB` });
    return [];
  }
  if (!reportCharacters(text, diagnostics)) return [];
  if (hasMoreTokens(text, TOKENS_MAX)) {
    diagnostics.add("manifest_too_large", 0, { limit: `${TOKENS_MAX} words and marks of YAML` });
    return [];
  }
  try {
    const documents = parseDocuments(text, MANIFEST_MAX_DOCUMENTS + 1);
    if (documents.length <= MANIFEST_MAX_DOCUMENTS) return documents;
    const start = documents.at(-1)?.range[0] ?? 0;
    diagnostics.add("manifest_too_large", start, { limit: `${MANIFEST_MAX_DOCUMENTS} documents` });
    return documents.slice(0, MANIFEST_MAX_DOCUMENTS);
  } catch (error) {
    // The library reports what it finds; anything thrown is a stack that a deep nesting has used up.
    diagnostics.add("yaml_syntax", 0, { cause: messageOf(error) });
    return [];
  }
}

/** Keeps the text, not the parsed document: of ten thousand files those would take hundreds of megabytes. */
function manifestObject(object: ObjectIntent, position: Position, text: string, index: number): ManifestObject {
  return {
    object,
    position,
    positionOf(path) {
      const document = parseDocuments(text, index + 1)[index];
      return placesIn(text)(offsetAt(document?.contents, path));
    },
  };
}
