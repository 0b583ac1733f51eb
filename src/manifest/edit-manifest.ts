import { isDeepStrictEqual } from "node:util";
import { type Document, isMap } from "yaml";
import { API_VERSION, type ObjectIntent } from "../apis/index.ts";
import { mapSplices } from "./edit-map.ts";
import { MANIFEST_MAX_CHARACTERS, MANIFEST_MAX_DOCUMENTS } from "./parse-manifest.ts";
import { readValue } from "./read-value.ts";
import { renderManifest } from "./render-manifest.ts";
import { type Fields, isFields } from "./render-map.ts";
import { applySplices, lineEndOf, type Splice } from "./splice.ts";
import { parseDocuments } from "./yaml-documents.ts";

/** Names a document of a file. */
export type DocumentName = Pick<ObjectIntent, "kind"> & { readonly metadata: { readonly name: string } };

export interface ManifestEdit {
  /** Objects whose documents stand in the file, as they become: labels, annotations and spec are exactly these. */
  readonly change?: readonly ObjectIntent[];
  readonly remove?: readonly DocumentName[];
  /** Objects that get a document at the end of the file. */
  readonly append?: readonly ObjectIntent[];
}

/** An edit of an anchored value changes its aliases too: they are left for the next round, and set right if need be. */
const ROUNDS_MAX = 8;
const MARK = "\ufeff";

/**
 * The text of a manifest file after an edit. Only nodes that differ are touched: comments, order, quoting, indentation,
 * line ends, byte order mark, a missing final line end and the other documents stay as they are. Empty when no
 * document is left; undefined when the edit cannot be made so (the file does not parse, a document is not there, a
 * value that no manifest can hold). Pure.
 */
export function editManifest(text: string, edit: ManifestEdit): string | undefined {
  const mark = text.startsWith(MARK) ? MARK : "";
  const removed = removeDocuments(text.slice(mark.length), edit.remove ?? []);
  if (removed === undefined) return undefined;
  const changed = changeDocuments(removed, edit.change ?? []);
  if (changed === undefined) return undefined;
  const result = (edit.append ?? []).reduce(appendDocument, changed);
  return result === "" ? "" : mark + result;
}

function removeDocuments(text: string, names: readonly DocumentName[]): string | undefined {
  if (names.length === 0) return text;
  const documents = soundDocuments(text);
  if (!documents) return undefined;
  const cuts: Splice[] = [];
  for (const name of names) {
    const document = documents.find((one) => isNamed(one, name));
    if (!document) return undefined;
    cuts.push({ start: document.range[0], end: document.range[2], text: "" });
  }
  const result = applySplices(text, cuts);
  const isEmpty = soundDocuments(result)?.every(({ contents }) => isEmptyNode(contents)) ?? false;
  return isEmpty ? "" : result;
}

function changeDocuments(text: string, intents: readonly ObjectIntent[]): string | undefined {
  if (intents.length === 0) return text;
  const first = soundDocuments(text);
  const targets = first && targetsOf(first, intents);
  if (!targets) return undefined;
  let result = text;
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const documents = soundDocuments(result);
    if (documents?.length !== targets.length) return undefined;
    const splices = splicesTo(targets, documents, result);
    if (!splices) return undefined;
    if (splices.length === 0) return result;
    result = applySplices(result, splices);
  }
  return undefined;
}

/** What each document is to say, those that are not changed what they say now. */
function targetsOf(documents: readonly Document.Parsed[], intents: readonly ObjectIntent[]): unknown[] | undefined {
  const targets = documents.map(({ contents }) => readValue(contents).value);
  for (const intent of intents) {
    const index = documents.findIndex((document) => isNamed(document, intent));
    if (index < 0) return undefined;
    targets[index] = target(targets[index] as Fields, intent);
  }
  return targets;
}

function target(present: Fields, { metadata, spec }: ObjectIntent): Fields {
  const { labels: _labels, annotations: _annotations, ...named } = present.metadata as Fields;
  const { labels, annotations } = metadata;
  return {
    ...present,
    metadata: { ...named, ...(labels && { labels }), ...(annotations && { annotations }) },
    spec: Object.fromEntries(Object.entries(spec).filter(([, value]) => value !== undefined)),
  };
}

function splicesTo(
  targets: readonly unknown[],
  documents: readonly Document.Parsed[],
  text: string,
): Splice[] | undefined {
  const edited = { text, eol: lineEndOf(text) };
  const splices: Splice[] = [];
  for (const [index, { contents }] of documents.entries()) {
    const wanted = targets[index];
    const present = readValue(contents).value;
    if (isDeepStrictEqual(present, wanted)) continue;
    const isEditable = isMap(contents) && isFields(present) && isFields(wanted);
    const own = isEditable ? mapSplices(contents, present, wanted, edited) : undefined;
    if (!own) return undefined;
    splices.push(...own);
  }
  const direct = splices.filter(({ ofAlias }) => !ofAlias);
  return direct.length > 0 ? direct : splices;
}

function appendDocument(text: string, intent: ObjectIntent): string {
  if (text === "") return renderManifest(intent);
  const eol = lineEndOf(text);
  const document = `---${eol}${renderManifest(intent, eol)}`;
  return text.endsWith("\n") ? text + document : text + eol + document.slice(0, -eol.length);
}

/** undefined when the text is no YAML, or too long for a manifest. */
function soundDocuments(text: string): Document.Parsed[] | undefined {
  if (text.length > MANIFEST_MAX_CHARACTERS) return undefined;
  try {
    const documents = parseDocuments(text, MANIFEST_MAX_DOCUMENTS + 1);
    const isSound = ({ errors, warnings }: Document.Parsed) => errors.length + warnings.length === 0;
    return documents.length <= MANIFEST_MAX_DOCUMENTS && documents.every(isSound) ? documents : undefined;
  } catch {
    // A stack that a deep nesting has used up.
    return undefined;
  }
}

function isNamed({ contents }: Document.Parsed, { kind, metadata }: DocumentName): boolean {
  const { value } = readValue(contents);
  if (!isFields(value) || value.apiVersion !== API_VERSION || value.kind !== kind) return false;
  return isFields(value.metadata) && value.metadata.name === metadata.name;
}

function isEmptyNode(contents: unknown): boolean {
  return contents === null || readValue(contents).value === null;
}
