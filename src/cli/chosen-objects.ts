import type { Kind } from "../apis/index.ts";
import { SlessError } from "../errors/index.ts";
import { kindAndName } from "./kind-names.ts";
import type { OptionRow } from "./verb.ts";

export const ONLY_OPTION: OptionRow = {
  flags: "--only <kind/name...>",
  description: "only these objects; a kind alone means all of it",
  repeated: true,
};

interface Named {
  readonly kind: Kind;
  readonly name: string;
}

/** Whether an object is one of those that `--only` names; all are without it. */
export interface ChosenObjects {
  has(ref: Named): boolean;
  /** @throws SlessError `not_found` for a name that none of these objects has */
  check(refs: readonly Named[]): void;
}

/** @throws SlessError `usage_invalid` for what is no kind */
export function chosenObjects(words: readonly string[] | undefined, verb: string): ChosenObjects {
  const wanted = (words ?? []).map((word) => {
    const { named, name } = kindAndName([word], verb);
    return { word, kind: named.kind, name };
  });
  const isNamed = (one: (typeof wanted)[number], ref: Named) =>
    one.kind === ref.kind && (one.name === undefined || one.name === ref.name);
  return {
    has: (ref) => wanted.length === 0 || wanted.some((one) => isNamed(one, ref)),
    check(refs) {
      const missing = wanted.find((one) => one.name !== undefined && !refs.some((ref) => isNamed(one, ref)));
      if (missing) throw new SlessError("not_found", { what: missing.word });
    },
  };
}
