import { join } from "node:path";
import { loadRuntimes } from "../../src/runtimes/index.ts";

/** The runtimes of this checkout. */
export const runtimes = await loadRuntimes(join(import.meta.dirname, "../../runtimes"));

/** Fields of a spec as they are written into YAML. */
type Spec = Readonly<Record<string, unknown>>;

/** A document of our group in YAML (which JSON is). */
export function document(
  kind: string,
  name: string,
  spec: Spec,
  annotations?: Readonly<Record<string, string>>,
): string {
  const metadata = { name, ...(annotations && { annotations }) };
  return [
    "---",
    "apiVersion: sless.kube5s.ru/v1alpha1",
    `kind: ${kind}`,
    `metadata: ${JSON.stringify(metadata)}`,
    "spec:",
    ...Object.entries(spec).map(([field, value]) => `  ${field}: ${JSON.stringify(value)}`),
    "",
  ].join("\n");
}

export function functionYaml(name: string, spec: Spec = {}, annotations?: Readonly<Record<string, string>>): string {
  return document("Function", name, { runtime: "python3.11", ...spec }, annotations);
}

export function triggerYaml(name: string, functionRef: string): string {
  return document("Trigger", name, { type: "http", functionRef });
}

/** Handler of a function that answers with a text. */
export function handler(text = "hello"): string {
  return `def handle(event, context):\n    return ${JSON.stringify(text)}\n`;
}

/** Files of a function in `functions/<name>/` with an http trigger. */
export function functionFolder(name: string, text = "hello"): Record<string, string> {
  return {
    [`functions/${name}/function.yaml`]: functionYaml(name) + triggerYaml(`${name}-http`, name),
    [`functions/${name}/handler.py`]: handler(text),
  };
}
