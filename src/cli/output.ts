import { stringify } from "yaml";
import type { OptionRow } from "./verb.ts";

/** Forms of `-o` of what is a table without it. */
export const OUTPUTS = ["wide", "json", "yaml", "name"] as const;
export type OutputForm = (typeof OUTPUTS)[number];

export const OUTPUT_OPTION: OptionRow = {
  flags: "-o, --output <form>",
  description: "another form than the table",
  choices: OUTPUTS,
};

/** Forms of `-o` of what has no wider table. */
export const RESULT_OUTPUTS = ["json", "yaml", "name"] as const;
export type ResultForm = (typeof RESULT_OUTPUTS)[number];

export const RESULT_OPTION: OptionRow = {
  flags: "-o, --output <form>",
  description: "the outcome in this form instead",
  choices: RESULT_OUTPUTS,
};

/** What `-o` prints of a value that has these names, one a line: `function/hello`. */
export function inForm(form: ResultForm, value: unknown, names: readonly string[]): string {
  return form === "name" ? names.map((name) => `${name}\n`).join("") : serialized(value, form);
}

/** A value as JSON or YAML, with a final newline. */
export function serialized(value: unknown, form: "json" | "yaml"): string {
  return form === "json" ? `${JSON.stringify(value, null, 2)}\n` : stringify(value);
}
