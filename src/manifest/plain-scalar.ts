/** What a plain (unquoted) scalar means. */
export type PlainValue = string | number | boolean | null;

const WORDS: ReadonlyMap<string, boolean | null> = new Map<string, boolean | null>([
  ...["", "~", "null", "Null", "NULL"].map((word) => [word, null] as const),
  ...["true", "True", "TRUE"].map((word) => [word, true] as const),
  ...["false", "False", "FALSE"].map((word) => [word, false] as const),
]);

/** Booleans of YAML 1.1, which kubectl and most other tools still read so; strings in YAML 1.2. */
const LEGACY_WORDS: ReadonlyMap<string, boolean> = new Map<string, boolean>([
  ...["y", "Y", "yes", "Yes", "YES", "on", "On", "ON"].map((word) => [word, true] as const),
  ...["n", "N", "no", "No", "NO", "off", "Off", "OFF"].map((word) => [word, false] as const),
]);
const LONGEST_WORD = 5;

const CORE_NUMBER = /^(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|0o[0-7]+|0x[0-9a-fA-F]+)$/;
const CORE_SPECIAL = /^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;
const EVERYWHERE_THE_SAME = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$/;

/** Numbers and timestamps of YAML 1.1 that are strings in 1.2: `0b11`, `1_000`, `12:30:00`, `2024-01-01`. */
const LEGACY_NUMBER =
  /^[-+]?(?:0b[01_]+|0x[0-9a-fA-F_]+|[0-9][0-9_]*(?:\.[0-9_]*)?(?:[eE][-+]?[0-9]+)?|[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?|\.[0-9][0-9_]*(?:[eE][-+]?[0-9]+)?)$/;
const LEGACY_TIME = /^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:(?:[Tt]|[ \t]+)[0-9:.]+[ \t]*(?:Z|[-+][0-9:]+)?)?$/;

/** `true` when the text can be other than a string in some version of YAML; by its first character, for speed. */
function maySpecial(text: string): boolean {
  const first = text.charCodeAt(0);
  const isNumberLike = (first >= 48 && first <= 57) || first === 43 || first === 45 || first === 46;
  return isNumberLike || text.length <= LONGEST_WORD;
}

/** The value in YAML 1.2 (core schema). */
export function plainValue(text: string): PlainValue {
  if (!maySpecial(text)) return text;
  const word = WORDS.get(text);
  if (word !== undefined) return word;
  if (CORE_NUMBER.test(text)) return Number(text);
  if (CORE_SPECIAL.test(text)) return specialNumber(text);
  return text;
}

function specialNumber(text: string): number {
  if (/nan$/i.test(text)) return Number.NaN;
  return text.startsWith("-") ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}

/** Why other tools read the text otherwise than as its YAML 1.2 value; undefined when all agree. */
export function ambiguityOf(text: string): string | undefined {
  if (!maySpecial(text) || EVERYWHERE_THE_SAME.test(text)) return undefined;
  if (LEGACY_WORDS.has(text)) return "a boolean in YAML 1.1, a text in YAML 1.2";
  if (/^[-+]?0[0-9_]+$/.test(text)) return "an octal number in YAML 1.1, a decimal one in YAML 1.2";
  if (CORE_NUMBER.test(text) || CORE_SPECIAL.test(text)) return "a number that tools read differently";
  if (LEGACY_NUMBER.test(text)) return "a number in YAML 1.1, a text in YAML 1.2";
  if (LEGACY_TIME.test(text)) return "a time in YAML 1.1, a text in YAML 1.2";
  return undefined;
}

/** How to write a plain scalar so that it has the wanted JSON type; undefined when it cannot have it. */
export function writtenAs(text: string, wanted: string | undefined): string | undefined {
  switch (wanted) {
    case "string":
    case undefined:
      return JSON.stringify(text);
    case "boolean":
      return LEGACY_WORDS.get(text)?.toString();
    case "integer":
    case "number":
      return writtenAsNumber(text);
    default:
      return undefined;
  }
}

function writtenAsNumber(text: string): string | undefined {
  const digits = text.replaceAll("_", "");
  const readings = [Number(digits)];
  if (/^[-+]?0[0-7]+$/.test(digits)) readings.push(Number.parseInt(digits, 8));
  const finite = readings.filter(Number.isFinite).map(String);
  return finite.length > 0 ? finite.join(" or ") : undefined;
}
