import { Ajv, type ErrorObject } from "ajv";
import { nearestName } from "../apis/index.ts";
import { PLACEHOLDERS_OF, type Placeholder } from "./runtime.ts";
import { type RuntimeFile, RuntimeFileSchema } from "./runtime-schema.ts";

// The schema is ours and a test judges it: every command would wait for that of all schemas to be compiled.
const options = { allErrors: true, verbose: true, strict: false, meta: false, validateSchema: false };
const validate = new Ajv(options).compile<RuntimeFile>(RuntimeFileSchema);

/** All faults of a parsed `runtime.yaml`, each with the path of its field; pure. */
export function runtimeFaults(parsed: unknown): string[] {
  if (!validate(parsed)) return [...new Set((validate.errors ?? []).map(toText))];
  return [
    ...placeholderFaults(parsed),
    ...patternFaults(parsed.interpreter.versionPattern),
    ...dependencyFaults(parsed),
  ];
}

function toText(error: ErrorObject): string {
  const path = error.instancePath.slice(1).replaceAll("/", ".");
  const field = (name: unknown) => (path ? `${path}.${String(name)}` : String(name));
  switch (error.keyword) {
    case "required":
      return `${field(error.params.missingProperty)} is missing`;
    case "additionalProperties": {
      const name = String(error.params.additionalProperty);
      const known = Object.keys((error.parentSchema as { properties?: object }).properties ?? {});
      const near = nearestName(name, known);
      return `${field(name)} is no field${near ? `; did you mean ${near}?` : `; known here: ${known.join(", ")}`}`;
    }
    case "type":
      return `${path || "the file"} wants a ${String(error.params.type)}, not ${JSON.stringify(error.data)}${
        typeof error.data === "number" ? " (put it in quotes)" : ""
      }`;
    default:
      return `${path} ${error.message ?? "is not valid"}`;
  }
}

function placeholderFaults(file: RuntimeFile): string[] {
  const sections: [string, readonly Placeholder[], readonly string[]][] = [
    ...(file.install ?? []).map(({ command }, index): [string, readonly Placeholder[], readonly string[]] => [
      `install.${index}.command`,
      PLACEHOLDERS_OF.install,
      command,
    ]),
    ["build.command", PLACEHOLDERS_OF.build, file.build?.command ?? []],
    ["buildEnv", PLACEHOLDERS_OF.install, Object.values(file.buildEnv ?? {})],
    ["start.command", PLACEHOLDERS_OF.start, file.start.command],
    ["start.env", PLACEHOLDERS_OF.start, Object.values(file.start.env ?? {})],
  ];
  return sections.flatMap(([section, known, parts]) =>
    parts
      .flatMap((part) => [...part.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!))
      .filter((name) => !(known as readonly string[]).includes(name))
      .map((name) => `${section} names {${name}}; known there: ${known.map((one) => `{${one}}`).join(", ")}`),
  );
}

function patternFaults(pattern: string): string[] {
  try {
    new RegExp(pattern);
    return [];
  } catch (error) {
    return [`interpreter.versionPattern is no regular expression: ${(error as Error).message}`];
  }
}

function dependencyFaults(file: RuntimeFile): string[] {
  const known = file.dependencyFiles ?? [];
  return (file.install ?? [])
    .flatMap(({ when }) => when)
    .filter((name) => !known.includes(name))
    .map((name) => `install needs ${name}, which is not among dependencyFiles`);
}
