import { SlessError } from "../errors/index.ts";
import type { Placeholder } from "./runtime.ts";

export type PlaceholderValues = Readonly<Partial<Record<Placeholder, string>>>;

/**
 * The parts with every `{placeholder}` filled in. A part stays one argument whatever a value holds.
 *
 * @throws SlessError `internal` when a placeholder has no value
 */
export function expandCommand(parts: readonly string[], placeholders: PlaceholderValues): string[] {
  return parts.map((part) => expand(part, placeholders));
}

/**
 * The same for the values of an environment (`start.env`, `buildEnv`).
 *
 * @throws SlessError `internal` when a placeholder has no value
 */
export function expandEnv(
  env: Readonly<Record<string, string>>,
  placeholders: PlaceholderValues,
): Record<string, string> {
  return Object.fromEntries(Object.entries(env).map(([name, value]) => [name, expand(value, placeholders)]));
}

function expand(part: string, placeholders: PlaceholderValues): string {
  return part.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => {
    const value = placeholders[name as Placeholder];
    if (value === undefined) throw new SlessError("internal", { cause: `{${name}} has no value in "${part}"` });
    return value;
  });
}
