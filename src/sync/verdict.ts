import { refText } from "../apis/index.ts";
import { type ErrorRow, SlessError } from "../errors/index.ts";
import { refOfAction } from "../plan/index.ts";
import { diagnosticsOf, type Failure, type Outcome, type Reason, type Run } from "./run.ts";

/** What a run comes to: reason and message of `Ready`, and what follows from it. */
export interface Verdict {
  readonly reason: Reason;
  readonly message: string;
  /** `retry`: again soon, with back-off; `waiting`: somebody must act, look again after the interval. */
  readonly consequence: "done" | ErrorRow["consequence"];
}

/** Of several troubles the earliest step's is told, for it is the cause of the later ones. Pure. */
export function verdictOf(run: Run, outcome: Outcome): Verdict {
  if (outcome.kind === "failed") {
    const { reason, error } = outcome;
    return { reason, message: error.message, consequence: error.consequence };
  }
  return (
    failed(run, ["upload"], "ArtifactFailed", "could not be stored") ??
    failed(run, ["apply", "mark"], "ReconciliationFailed", "could not be written") ??
    faulty(run) ??
    failed(run, ["delete"], "PruneFailed", "could not be deleted") ??
    held(run) ??
    waiting(run) ?? {
      reason: "ReconciliationSucceeded",
      message: `Applied revision: ${run.resolved?.revision ?? "none"}`,
      consequence: "done",
    }
  );
}

function failed(run: Run, doing: readonly Failure["doing"][], reason: Reason, what: string): Verdict | undefined {
  const failures = run.failures.filter((failure) => doing.includes(failure.doing));
  const first = failures[0];
  if (!first) return undefined;
  const which = failures.length === 1 ? refText(first.ref) : `${failures.length} objects`;
  return { reason, message: `${which} ${what}: ${first.error.message}`, consequence: "retry" };
}

function faulty(run: Run): Verdict | undefined {
  const [first, ...more] = diagnosticsOf(run);
  if (!first) return undefined;
  const place = [first.file, first.line, first.column].filter((part) => part !== undefined).join(":");
  const rest = more.length === 0 ? "" : ` (and ${more.length} more)`;
  return { reason: "BuildFailed", message: `${place}: ${first.message}${rest}`, consequence: "waiting" };
}

function held(run: Run): Verdict | undefined {
  const count = (run.plan?.actions ?? []).filter(({ kind }) => kind === "hold").length;
  if (count === 0) return undefined;
  const { message } = new SlessError("deletions_held", { count, repository: run.repository.metadata.name });
  return { reason: "DeletionsHeld", message, consequence: "waiting" };
}

/** Objects whose place is not free yet. */
function waiting(run: Run): Verdict | undefined {
  const waits = (run.plan?.actions ?? []).filter(({ kind }) => kind === "wait");
  const first = waits[0];
  if (!first) return undefined;
  const message = `${refText(refOfAction(first))} is created once what stood in its place is gone.`;
  return { reason: "Progressing", message, consequence: "retry" };
}
