import { Composer, type Document, Parser } from "yaml";

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

/** The documents of a file, at most `limit`; a broken one has `errors`. The text has no byte order mark. */
export function parseDocuments(text: string, limit: number): Document.Parsed[] {
  const documents: Document.Parsed[] = [];
  for (const document of new Composer(OPTIONS).compose(new Parser().parse(text))) {
    documents.push(document);
    if (documents.length >= limit) break;
  }
  return documents;
}
