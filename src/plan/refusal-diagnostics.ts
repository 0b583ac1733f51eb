import { type Diagnostic, ownerUidOf, refOf, refText } from "../apis/index.ts";
import { type ErrorCode, type ErrorDetails, SlessError } from "../errors/index.ts";
import type { Action, Plan } from "./action.ts";
import { changesText } from "./action-text.ts";

type Refusal = Extract<Action, { kind: "refuse" }>;

/**
 * A diagnostic per refused object, at its manifest.
 *
 * @param repositoryName how people know the repository with a UID, `team-b/functions`; it must be one that the reader may see.
 */
export function refusalDiagnostics(plan: Plan, repositoryName: (uid: string) => string): Diagnostic[] {
  return plan.actions
    .filter((action) => action.kind === "refuse")
    .map((refusal) => {
      const { file, line, column } = refusal.desired;
      const [code, details] = reasonOf(refusal, repositoryName);
      return { code, file, line, column, message: new SlessError(code, details).message };
    });
}

function reasonOf(refusal: Refusal, repositoryName: (uid: string) => string): [ErrorCode, ErrorDetails] {
  const what = refText(refOf(refusal.desired.intent));
  const inTheWay = refText(refOf(refusal.live));
  switch (refusal.because) {
    case "owned elsewhere":
      return ["owned_elsewhere", { what, owner: repositoryName(ownerUidOf(refusal.live) ?? "") }];
    case "not adopted":
      return ["not_adopted", { what, cause: changesText(refusal.changes) }];
    case "name taken":
      return ["name_taken", { what: `The name of ${what}`, files: `${inTheWay}, which is there already` }];
    default:
      throw new Error(`unknown reason ${refusal.because satisfies never}`);
  }
}
