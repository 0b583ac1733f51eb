import { type ParsedManifest, parseManifest } from "../../src/manifest/index.ts";

export const RUNTIMES = ["go1.23", "nodejs20", "python3.11"];
export const FILE = "functions/hello/function.yaml";

export function parse(text: string): ParsedManifest {
  return parseManifest({ file: FILE, text, namespace: "default", runtimes: RUNTIMES });
}

/** A valid Function whose `spec:` ends with these lines; the first of them is line 6. */
export function functionYaml(lines = ""): string {
  return `apiVersion: sless.kube5s.ru/v1alpha1
kind: Function
metadata: {name: hello}
spec:
  runtime: python3.11
${lines}`;
}

export function triggerYaml(spec = "{type: http, functionRef: hello}"): string {
  return `apiVersion: sless.kube5s.ru/v1alpha1
kind: Trigger
metadata: {name: hello-http}
spec: ${spec}
`;
}

/** `6:3 code message` of every diagnostic. */
export function linesOf({ diagnostics }: ParsedManifest): string[] {
  return diagnostics.map(({ line, column, code, message }) => `${line}:${column} ${code} ${message}`);
}
