import type { Document } from "yaml";
import type { Diagnostics } from "./diagnostics.ts";

/** What to do, for those errors whose own words do not tell. */
const REMEDIES: Readonly<Record<string, string>> = {
  TAB_AS_INDENT: "a tab indents nothing in YAML; use spaces",
  RESOURCE_EXHAUSTION: "it nests too deep; manifests have about five levels",
  MULTIPLE_ANCHORS: "a value has one anchor; remove the others",
};
const CAUSE_MAX = 200;

/** Characters that YAML forbids, and the one that stands where bytes were no UTF-8. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const FORBIDDEN = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f\ufffd]/;

/** Reports characters that no manifest may have; answers whether the text can be parsed. */
export function reportCharacters(text: string, diagnostics: Diagnostics): boolean {
  const offset = text.search(FORBIDDEN);
  if (offset < 0) return true;
  const code = text.charCodeAt(offset);
  const cause =
    code === 0xfffd
      ? "it holds bytes that are no UTF-8 (or the character U+FFFD); save the file as UTF-8"
      : `it holds the control character U+${code.toString(16).toUpperCase().padStart(4, "0")}; remove it`;
  diagnostics.add("yaml_syntax", offset, { cause });
  return false;
}

/** Reports what the parser found wrong; tags, anchors and aliases that it only warns of too. */
export function reportSyntax(document: Document.Parsed, diagnostics: Diagnostics): boolean {
  const all = [...document.errors, ...document.warnings];
  // What the parser says after its stack was used up is only about what it could not look into.
  const exhausted = all.filter(({ code }) => code === "RESOURCE_EXHAUSTION").slice(0, 1);
  for (const { code, message, pos } of exhausted.length > 0 ? exhausted : all) {
    const cause = REMEDIES[code] ?? plainCause(code, message);
    diagnostics.add("yaml_syntax", Math.max(0, pos[0]), { cause: cause.slice(0, CAUSE_MAX) });
  }
  return all.length === 0;
}

function plainCause(code: string, message: string): string {
  if (code === "TAG_RESOLVE_FAILED")
    return `${message.replace("Unresolved tag: ", "tag ")} is not known here; remove it`;
  return message.replace(/\.$/, "");
}
