import type { TSchema } from "typebox";

/** A fault of a value: where (a path of property names and indexes below the object's root) and what to do. */
export interface Fault {
  readonly path: readonly (string | number)[];
  readonly message: string;
  /** The JSON type that the schema wants there, when the value has another. */
  readonly wants?: string;
}

/**
 * A rule between fields, once as CEL for the API server and once as code for everything else.
 * `cel` is put on the spec (`self` is the spec); without `cel` the API server cannot check it.
 */
export interface FieldRule {
  readonly cel?: string;
  readonly message: string;
  /** Faults of a spec that already fits the schema; paths start with "spec". Pure. */
  faults(spec: Readonly<Record<string, unknown>>): Fault[];
}

/** Everything that is particular to a kind; types, validation, JSON schema and CRD are made from it. */
export interface KindDefinition {
  readonly kind: string;
  /** What it is, in a sentence or two: `kubectl explain` shows it. */
  readonly description: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly spec: TSchema;
  readonly status: TSchema;
  readonly rules: readonly FieldRule[];
  /** Has the scale subresource on `spec.replicas`. */
  readonly scale: boolean;
  readonly printerColumns: readonly {
    readonly name: string;
    readonly type: string;
    readonly jsonPath: string;
    readonly priority?: number;
  }[];
}
