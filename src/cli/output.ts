import { stringify } from "yaml";
import type { OptionRow } from "./verb.ts";

/** Forms of `-o`; without it a table. */
export const OUTPUTS = ["wide", "json", "yaml", "name"] as const;
export type OutputForm = (typeof OUTPUTS)[number];

export const OUTPUT_OPTION: OptionRow = {
  flags: "-o, --output <form>",
  description: "another form than the table",
  choices: OUTPUTS,
};

/** A value as JSON or YAML, with a final newline. */
export function serialized(value: unknown, form: "json" | "yaml"): string {
  return form === "json" ? `${JSON.stringify(value, null, 2)}\n` : stringify(value);
}
