import type { Diagnostic, ObjectIntent, ObjectRef } from "../apis/index.ts";

/** Where something stands in a file; lines and columns start at 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** One valid document of our group. */
export interface ManifestObject {
  readonly object: ObjectIntent;
  /** Start of the document's `kind`. */
  readonly position: Position;
  /**
   * Place of a field, the nearest enclosing one when it does not stand there itself. Parses the file's text again
   * and keeps that text alive: for the few faults found later, not for every object, and not to be kept.
   */
  positionOf(path: readonly (string | number)[]): Position;
}

export interface ParsedManifest {
  readonly objects: readonly ManifestObject[];
  /** All faults of the file. With one, its valid documents are still listed, so that names are known; they must not be applied. */
  readonly diagnostics: readonly Diagnostic[];
  /** Every object that the file names, those of invalid documents too as far as kind and name can be read. */
  readonly named: readonly ObjectRef[];
}
