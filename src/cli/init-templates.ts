import { stringify } from "yaml";
import { API_VERSION } from "../apis/index.ts";
import type { Runtime } from "../runtimes/index.ts";

/** Files of a new function by their path in its folder. */
export type TemplateFiles = Readonly<Record<string, string>>;

const python = (): TemplateFiles => ({
  "handler.py": `def handle(event, context):
    """Answers a call; event is the JSON body, or the query when there is no body."""
    return {"message": f"Hello, {event.get('name', 'world')}!"}
`,
  "requirements.txt": "# One package a line, with its version: requests==2.32.5\n",
});

const node = (name: string): TemplateFiles => ({
  "handler.js": `/** Answers a call; event is the JSON body, or the query when there is no body. */
export async function handle(event, context) {
  return { message: \`Hello, \${event.name ?? "world"}!\` };
}
`,
  "package.json": `${JSON.stringify({ name, private: true, type: "module", dependencies: {} }, null, 2)}\n`,
});

const go = (name: string, version: string): TemplateFiles => ({
  "handler.go": `package function

import "context"

// Event is what a caller sends as JSON.
type Event struct {
	Name string \`json:"name"\`
}

// Handle answers a call.
func Handle(ctx context.Context, event Event) (any, error) {
	name := event.Name
	if name == "" {
		name = "world"
	}
	return map[string]string{"message": "Hello, " + name + "!"}, nil
}
`,
  "go.mod": `module ${name}\n\ngo ${version}\n`,
});

const BY_LANGUAGE: Readonly<Record<string, (name: string, version: string) => TemplateFiles>> = { python, node, go };

/** The code and dependency file of a new function; undefined for a language without a template. */
export function codeTemplate({ language, interpreter }: Runtime, name: string): TemplateFiles | undefined {
  return BY_LANGUAGE[language]?.(name, interpreter.version);
}

/** The manifest of a new function: the function and the http trigger that makes it reachable. */
export function manifestTemplate(name: string, runtime: string): string {
  // YAML reads y, no, on and the like as no names.
  const quoted = stringify(name, { version: "1.1" }).trimEnd();
  return `apiVersion: ${API_VERSION}
kind: Function
metadata:
  name: ${quoted}
spec:
  runtime: ${runtime}
  entrypoint: handler.handle
  memoryMB: 128
  timeoutSec: 30
---
apiVersion: ${API_VERSION}
kind: Trigger
metadata:
  name: ${name}-http
spec:
  type: http
  functionRef: ${quoted}
`;
}
