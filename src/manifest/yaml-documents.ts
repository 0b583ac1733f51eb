import { Composer, type Document, Lexer, Parser } from "yaml";

/**
 * Scalars come as their text (failsafe schema): what plain ones mean is told by `plainValue`, which knows what other
 * tools make of them. Duplicate keys are found by `readValue`; the library's own check takes quadratic time.
 */
const OPTIONS = {
  schema: "failsafe",
  resolveKnownTags: false,
  prettyErrors: false,
  uniqueKeys: false,
  logLevel: "silent",
} as const;

/** Nobody corrects more at a time, and each costs as much as a hundred sound words. */
const FAULTS_MAX = 100;

/** The documents of a file, at most `limit`; a broken one has `errors`. The text has no byte order mark. */
export function parseDocuments(text: string, limit: number): Document.Parsed[] {
  const documents: Document.Parsed[] = [];
  for (const document of new Composer(OPTIONS).compose(soundBeginning(text))) {
    documents.push(document);
    if (documents.length >= limit) break;
  }
  return documents;
}

/** Up to where the text has nothing to do with YAML any more. */
function* soundBeginning(text: string): ReturnType<Parser["parse"]> {
  let faults = 0;
  for (const token of new Parser().parse(text)) {
    yield token;
    if (token.type === "error") faults += 1;
    if (faults > FAULTS_MAX) return;
  }
}

/** Whether a text has more than `max` words and marks of YAML: parsing takes as long as there are many, whatever its size. */
export function hasMoreTokens(text: string, max: number): boolean {
  // Each has one character at least, and what only says where a scalar or document begins takes none.
  if (text.length * 2 <= max) return false;
  let count = 0;
  for (const _ of new Lexer().lex(text)) {
    count += 1;
    if (count > max) return true;
  }
  return false;
}
