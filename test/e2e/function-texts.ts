/** A function that answers with a text; those with dependencies prove that they have them. */
export interface TestFunction {
  readonly name: string;
  readonly runtime: string;
  readonly file: string;
  /** Text of the handler that answers with `answer(text)`. */
  code(text: string): string;
  answer(text: string): string;
  /** Files of the folder that say what is to be installed. */
  readonly dependencies?: Readonly<Record<string, string>>;
  /** A new version of the code needs a Job. */
  readonly isCompiled?: true;
}

const PYTHON = { runtime: "python3.11", file: "handler.py" } as const;
const NODE = { runtime: "nodejs20", file: "handler.js" } as const;
const GO = { runtime: "go1.26", file: "handler.go", isCompiled: true } as const;
const same = (text: string) => text;

/** @param run told in the dependencies too: what they need is built in every run of the tests */
export const testFunctions = (run: string): readonly TestFunction[] => [
  {
    ...PYTHON,
    name: "snake",
    code: (text) => `def handle(event, context):\n    return ${JSON.stringify(text)}\n`,
    answer: same,
  },
  {
    ...NODE,
    name: "hexagon",
    code: (text) => `exports.handle = async () => ${JSON.stringify(text)};\n`,
    answer: same,
  },
  {
    ...GO,
    name: "gopher",
    code: (text) => `package handler\n\nfunc Handle() (string, error) {\n\treturn ${JSON.stringify(text)}, nil\n}\n`,
    answer: same,
  },
  {
    ...PYTHON,
    name: "snake-with-idna",
    code: (text) =>
      `import idna\n\n\ndef handle(event, context):\n    return ${JSON.stringify(text)} + ", " + idna.encode("bücher").decode()\n`,
    answer: (text) => `${text}, xn--bcher-kva`,
    dependencies: { "requirements.txt": `# ${run}\nidna==3.7\n` },
  },
  {
    ...NODE,
    name: "hexagon-with-ms",
    code: (text) => `const ms = require("ms");\nexports.handle = async () => \`${text}, \${ms("1 minute")}\`;\n`,
    answer: (text) => `${text}, 60000`,
    dependencies: {
      "package.json": `${JSON.stringify({ private: true, description: run, dependencies: { ms: "2.1.3" } })}\n`,
    },
  },
  {
    ...GO,
    name: "gopher-with-xxhash",
    code: (text) => `package handler

import (
	"fmt"

	"github.com/cespare/xxhash/v2"
)

func Handle() (string, error) {
	return fmt.Sprintf("%s, %016x", ${JSON.stringify(text)}, xxhash.Sum64String("")), nil
}
`,
    answer: (text) => `${text}, ef46db3751d8e999`,
    dependencies: {
      "go.mod": "module example.com/gopher\n\ngo 1.23\n\nrequire github.com/cespare/xxhash/v2 v2.3.0\n",
      "go.sum": [
        "github.com/cespare/xxhash/v2 v2.3.0 h1:UL815xU9SqsFlibzuggzjXhog7bL6oX9BbNZnL2UFvs=",
        "github.com/cespare/xxhash/v2 v2.3.0/go.mod h1:VGX0DQ3Q6kWi7AoAeZDth3/j3BFtOZR5XLFGgcrjCOs=\n",
      ].join("\n"),
    },
  },
];

/** Files of the repository that hold a function which answers with the text, and its trigger. */
export function filesOf(fn: TestFunction, text: string): Record<string, string> {
  const { name, runtime, file, code, dependencies = {} } = fn;
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
  const files = { "function.yaml": manifest, [file]: code(text), ...dependencies };
  return Object.fromEntries(Object.entries(files).map(([path, content]) => [`${name}/${path}`, content]));
}
