import { type Kind, manifestSchema } from "../apis/index.ts";
import type { Path } from "./read-value.ts";

interface Schema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | false;
  readonly items?: Schema;
}

/** The JSON type that a kind's schema wants at a path of a manifest; undefined where it knows no such field. */
export function schemaType(kind: Kind, path: Path): string | undefined {
  let schema: Schema | undefined = manifestSchema(kind);
  for (const part of path) {
    if (!schema) return undefined;
    schema = typeof part === "number" ? schema.items : fieldOf(schema, part);
  }
  return schema?.type ?? typeOfValues(schema);
}

function fieldOf(schema: Schema, field: string): Schema | undefined {
  if (schema.properties && Object.hasOwn(schema.properties, field)) return schema.properties[field];
  return schema.additionalProperties || undefined;
}

function typeOfValues(schema: Schema | undefined): string | undefined {
  const value = schema?.const ?? schema?.enum?.[0];
  return value === undefined ? undefined : typeof value;
}
