import { ANNOTATIONS, API_VERSION, KINDS, type Kind, REPOSITORY_CONTENT_KINDS } from "../src/apis/index.ts";

interface FieldSchema {
  type?: string;
  enum?: string[];
  pattern?: string;
  minimum?: number;
  maximum?: number;
  default?: unknown;
  description?: string;
  patternProperties?: Record<string, FieldSchema>;
}

const INTRODUCTION = `# The repository format

The tables are generated from the schemas in \`src/apis\` by \`npm run generate\`; do not edit this page.

A repository holds folders with a manifest beside the code:

    functions/hello/function.yaml      one file may hold several documents, separated by ---
    functions/hello/handler.py

A YAML file is a manifest by its name (\`function.yaml\`, \`service.yaml\`, \`job.yaml\`, \`trigger.yaml\`) or by a line
\`apiVersion: ${API_VERSION}\`. Every other YAML file is data and ships with the code.

The source of a workload is its folder (or \`sourceDir\` below it), less manifests, less what \`.slessignore\` files
(gitignore syntax, of this folder and its parents) name, less folders that hold another workload's source. Two workloads
may share one \`sourceDir\`. Not deployed, with a diagnostic: symlinks that leave the source, submodules, Git LFS pointers,
more than 50 MiB or 3,000 files.

Names are DNS labels of at most 52 characters. A Function and a Service may not share a name. \`metadata.namespace\` is
left out.

Annotations that a manifest may carry:

| annotation | value | effect |
|---|---|---|
| \`${ANNOTATIONS.adopt}\` | \`enabled\` | takes over an object of that name that nobody owns |
| \`${ANNOTATIONS.prune}\` | \`disabled\` | the object stays when the manifest goes |
| \`${ANNOTATIONS.reconcile}\` | \`disabled\` | the object is not written by a sync |
`;

/** The page of the repository format, with one table of fields per kind. */
export function repositoryFormat(): string {
  return [INTRODUCTION, ...REPOSITORY_CONTENT_KINDS.map(kindSection)].join("\n");
}

function kindSection(kind: Kind): string {
  const { properties, required = [] } = KINDS[kind].spec as unknown as {
    properties: Record<string, FieldSchema>;
    required?: string[];
  };
  const rows = Object.entries(properties)
    .filter(([name]) => name !== "s3Bucket" && name !== "s3Key")
    .map(
      ([name, field]) =>
        `| \`${name}\`${required.includes(name) ? " (required)" : ""} | ${valuesOf(field)} | ${defaultOf(field)} | ${field.description ?? ""} |`,
    );
  return [`## ${kind}`, "", "| field of `spec` | value | default | meaning |", "|---|---|---|---|", ...rows, ""].join(
    "\n",
  );
}

function valuesOf(field: FieldSchema): string {
  if (field.enum) return field.enum.map((value) => `\`${value}\``).join(", ");
  if (field.patternProperties) return "map";
  if (field.minimum !== undefined && field.maximum !== undefined)
    return `${field.type} ${field.minimum}–${field.maximum}`;
  return field.type ?? "";
}

function defaultOf(field: FieldSchema): string {
  return field.default === undefined ? "" : `\`${JSON.stringify(field.default)}\``;
}
