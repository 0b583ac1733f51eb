import { expect, it } from "vitest";
import { customResourceDefinition, KIND_NAMES } from "../../src/apis/index.ts";

interface Schema {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
}

/** What `kubectl explain` reads. */
function schemaOf(kind: (typeof KIND_NAMES)[number]): Schema {
  const { spec } = customResourceDefinition(kind) as {
    spec: { versions: readonly { schema: { openAPIV3Schema: Schema } }[] };
  };
  return spec.versions[0]!.schema.openAPIV3Schema;
}

it.each(KIND_NAMES)("kubectl explain tells what a %s is, and what each field of its spec is", (kind) => {
  const schema = schemaOf(kind);
  expect(schema.description).toMatch(/\.$/);
  const { spec, status } = schema.properties ?? {};
  for (const part of [spec, status]) expect(part?.description).toBeTruthy();
  const silent = Object.entries(spec?.properties ?? {}).filter(([, { description }]) => !description);
  expect(silent.map(([name]) => name)).toEqual([]);
});
