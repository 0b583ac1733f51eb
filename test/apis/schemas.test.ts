import { Ajv } from "ajv";
import { expect, it } from "vitest";
import { KIND_NAMES, KINDS, manifestSchema } from "../../src/apis/index.ts";
import { RuntimeFileSchema } from "../../src/runtimes/runtime-schema.ts";

// What the validators themselves leave out: it would cost every command its time.
const SCHEMAS: [string, object][] = [
  ...KIND_NAMES.flatMap((kind): [string, object][] => [
    [`manifests of ${kind}`, manifestSchema(kind)],
    [`the status of ${kind}`, KINDS[kind].status],
  ]),
  ["runtime.yaml", RuntimeFileSchema],
];

it.each(SCHEMAS)("the schema of %s is a JSON schema", (_what, schema) => {
  const ajv = new Ajv({ strict: false });
  expect(ajv.validateSchema(schema), ajv.errorsText()).toBe(true);
});
