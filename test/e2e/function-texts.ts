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

/** A function that is deleted later. */
export const MOTH: TestFunction = {
  ...PYTHON,
  name: "moth",
  code: (text) => `def handle(event, context):\n    return ${JSON.stringify(text)}\n`,
  answer: same,
};

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
  return below(name, { "function.yaml": manifest, [file]: code(text), ...dependencies });
}

/** Files below a folder of the repository. */
export function below(folder: string, files: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(files).map(([path, text]) => [`${folder}/${path}`, text]));
}

/** The deletion of the files. */
export function without(files: Readonly<Record<string, string>>): Record<string, null> {
  return Object.fromEntries(Object.keys(files).map((path) => [path, null]));
}

/** Is called every minute, and says so in its log. */
export const TICKER_FILES = {
  "function.yaml": `apiVersion: sless.kube5s.ru/v1alpha1
kind: Function
metadata: {name: ticker}
spec: {runtime: python3.11, memoryMB: 64}
---
apiVersion: sless.kube5s.ru/v1alpha1
kind: Trigger
metadata: {name: every-minute}
spec: {type: cron, functionRef: ticker, schedule: "* * * * *", eventJSON: '{"from": "cron"}'}
`,
  "handler.py": 'def handle(event, context):\n    print("ticked", event["from"], flush=True)\n',
};

/** More than the 4,096 bytes that a pod's status holds. */
export const LONG_RESULT = Array.from({ length: 1_000 }, (_, line) => `line ${line}, é`).join("; ");

export const LONG_JOB_FILES = {
  "job.yaml": `apiVersion: sless.kube5s.ru/v1alpha1
kind: FunctionJob
metadata: {name: long}
spec: {runtime: python3.11, memoryMB: 64, runID: 1}
`,
  "handler.py":
    'def handle(event, context):\n    print("before the result")\n    return "; ".join(f"line {line}, é" for line in range(1000))\n',
};
