import { type Diagnostic, type Kind, type ObjectRef, refOf, refText } from "../apis/index.ts";
import { SlessError } from "../errors/index.ts";
import type { DesiredObject } from "./desired-state.ts";

/** The kinds that share `/fn/{ns}/{name}`, and with it a name. */
const RIVAL = { Function: "Service", Service: "Function" } as const;

/** The object that may not exist beside this one: the Service of a Function's name, and the other way round. */
export function rivalOf(ref: ObjectRef): ObjectRef | undefined {
  const kind: Kind | undefined = RIVAL[ref.kind as keyof typeof RIVAL];
  return kind && { ...ref, kind };
}

/**
 * Objects that stand in several places, and Functions with the name of a Service: a diagnostic `name_taken` at each
 * place, and their `refText` for `DesiredState.blocked`.
 */
export function nameClashes(objects: readonly DesiredObject[]): { diagnostics: Diagnostic[]; blocked: Set<string> } {
  const first = new Map<string, DesiredObject>();
  const groups = new Map<string, DesiredObject[]>();
  for (const object of objects) {
    const { kind, metadata } = object.intent;
    const shared = kind === "Function" || kind === "Service" ? "Function or Service" : kind;
    const name = `${shared} ${metadata.namespace}/${metadata.name}`;
    const other = first.get(name);
    if (other) groups.set(name, [...(groups.get(name) ?? [other]), object]);
    else first.set(name, object);
  }
  const clashing = [...groups.values()];
  return {
    diagnostics: clashing.flatMap((group) => group.map((object) => clash(object, group))),
    blocked: new Set(clashing.flat().map(({ intent }) => refText(refOf(intent)))),
  };
}

function clash(object: DesiredObject, group: readonly DesiredObject[]): Diagnostic {
  const { file, line, column, intent } = object;
  const files = group.map((one) => `${one.file}:${one.line}`).join(" and ");
  const kinds = [...new Set(group.map((one) => one.intent.kind))].sort().join(" and ");
  const { message } = new SlessError("name_taken", { what: `${kinds} ${intent.metadata.name}`, files });
  return { code: "name_taken", file, line, column, message };
}
