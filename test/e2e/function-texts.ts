/** One function per language that answers with a text; all are called the same way. */
export interface TestFunction {
  readonly name: string;
  readonly runtime: string;
  readonly file: string;
  /** Text of the handler that answers with `text`. */
  code(text: string): string;
}

export const FUNCTIONS: readonly TestFunction[] = [
  {
    name: "snake",
    runtime: "python3.11",
    file: "handler.py",
    code: (text) => `def handle(event, context):\n    return ${JSON.stringify(text)}\n`,
  },
  {
    name: "hexagon",
    runtime: "nodejs20",
    file: "handler.js",
    code: (text) => `exports.handle = async () => ${JSON.stringify(text)};\n`,
  },
  {
    name: "gopher",
    runtime: "go1.26",
    file: "handler.go",
    code: (text) => `package handler\n\nfunc Handle() (string, error) {\n\treturn ${JSON.stringify(text)}, nil\n}\n`,
  },
];

/** Files of the repository that hold a function which answers with the text, and its trigger. */
export function filesOf({ name, runtime, file, code }: TestFunction, text: string): Record<string, string> {
  const manifest = `apiVersion: sless.kube5s.ru/v1alpha1
kind: Function
metadata: {name: ${name}}
spec: {runtime: ${runtime}, memoryMB: 64, timeoutSec: 5}
---
apiVersion: sless.kube5s.ru/v1alpha1
kind: Trigger
metadata: {name: ${name}-http}
spec: {type: http, functionRef: ${name}}
`;
  return { [`${name}/function.yaml`]: manifest, [`${name}/${file}`]: code(text) };
}
