import { API_VERSION, GROUP, VERSION } from "./group.ts";
import type { KindDefinition } from "./kind-definition.ts";
import { KIND_NAMES, KINDS, type Kind } from "./kinds.ts";
import { NAME_MAX_LENGTH, NAME_PATTERN } from "./metadata.ts";
import { manifestSchema } from "./validate.ts";

/** `status.observedGeneration` of a custom resource of which nobody wrote a status yet. */
export const NOT_OBSERVED = -1;

type Json = Record<string, unknown>;

/**
 * The CustomResourceDefinition of a kind: a structural schema (enums, patterns, ranges, defaults), CEL rules where
 * fields depend on each other, printer columns, short names, status and scale subresources. Pure.
 *
 * @see https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/
 */
export function customResourceDefinition(kind: Kind): Json {
  const definition: KindDefinition = KINDS[kind];
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${definition.plural}.${GROUP}` },
    spec: {
      group: GROUP,
      scope: "Namespaced",
      names: {
        kind,
        listKind: `${kind}List`,
        plural: definition.plural,
        singular: definition.singular,
        shortNames: [...definition.shortNames],
        categories: ["sless"],
      },
      versions: [versionOf(definition)],
    },
  };
}

function versionOf(definition: KindDefinition): Json {
  const scale = {
    specReplicasPath: ".spec.replicas",
    statusReplicasPath: ".status.replicas",
    labelSelectorPath: ".status.selector",
  };
  return {
    name: VERSION,
    served: true,
    storage: true,
    schema: { openAPIV3Schema: rootSchema(definition) },
    subresources: { status: {}, ...(definition.scale ? { scale } : {}) },
    additionalPrinterColumns: definition.printerColumns.map((column) => ({ ...column })),
  };
}

function rootSchema(definition: KindDefinition): Json {
  const rules = definition.rules.flatMap((rule) => (rule.cel ? [{ rule: rule.cel, message: rule.message }] : []));
  return {
    type: "object",
    description: definition.description,
    required: ["spec"],
    properties: {
      apiVersion: { type: "string" },
      kind: { type: "string" },
      metadata: { type: "object" },
      spec: {
        description: "What is wanted",
        ...structural(definition.spec),
        ...(rules.length > 0 ? { "x-kubernetes-validations": rules } : {}),
      },
      // Before sless looked at it the first time, kstatus must not take an object for current.
      status: {
        description: "What there is, as sless saw it last",
        ...structural(definition.status),
        default: { observedGeneration: NOT_OBSERVED },
      },
    },
    "x-kubernetes-validations": [
      {
        rule: `self.metadata.name.size() <= ${NAME_MAX_LENGTH} && self.metadata.name.matches('${NAME_PATTERN}')`,
        message: `the name must be a DNS-1035 label of at most ${NAME_MAX_LENGTH} characters`,
      },
    ],
  };
}

/** A schema as the API server wants it: every value typed, maps as `additionalProperties`, nothing that it does not know. */
function structural(schema: unknown): Json {
  const { patternProperties, additionalProperties, properties, items, ...rest } = JSON.parse(
    JSON.stringify(schema),
  ) as Json;
  const result: Json = { ...rest };
  if (result.enum && !result.type) result.type = "string";
  if (patternProperties) result.additionalProperties = structural(Object.values(patternProperties as Json)[0]);
  else if (typeof additionalProperties === "object") result.additionalProperties = structural(additionalProperties);
  if (properties) {
    result.properties = Object.fromEntries(
      Object.entries(properties as Json).map(([name, value]) => [name, structural(value)]),
    );
  }
  if (items) result.items = structural(items);
  return result;
}

/** One JSON schema for all manifests of the group, for an editor's YAML language server: the kind picks the branch. */
export function editorSchema(): Json {
  const kinds = KIND_NAMES.filter((kind) => kind !== "Repository");
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "sless manifest",
    type: "object",
    required: ["apiVersion", "kind", "metadata", "spec"],
    properties: { apiVersion: { const: API_VERSION }, kind: { enum: kinds } },
    allOf: kinds.map((kind) => ({
      if: { properties: { kind: { const: kind } }, required: ["kind"] },
      // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON schema
      then: plainSchema(kind),
    })),
  };
}

/** The JSON schema of one kind, as `schemas/<kind>.json`. */
export function plainSchema(kind: Kind): Json {
  return JSON.parse(JSON.stringify(manifestSchema(kind))) as Json;
}
