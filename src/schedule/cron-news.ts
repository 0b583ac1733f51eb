import { findCondition, keyOf, type ObjectOf, refOf } from "../apis/index.ts";
import type { Reporter } from "../report/index.ts";
import { LAST_CALL, timeText } from "./cron-status.ts";
import type { TickDecision } from "./decide-tick.ts";
import type { EndedCall } from "./tick-calls.ts";

export interface CronFindings {
  readonly decision: TickDecision | undefined;
  readonly ended: EndedCall | undefined;
}

/** Tells what went wrong with ticks and calls, once the status has it. */
export interface CronNews {
  tell(before: ObjectOf<"Trigger">, after: ObjectOf<"Trigger">, seen: CronFindings): void;
  forget(key: string): void;
}

/** What goes on failing in one way is told once. */
export function createCronNews(report: Reporter): CronNews {
  const failing = new Map<string, string>();
  return {
    tell(before, after, { decision, ended }) {
      const key = keyOf(after);
      const object = refOf(after);
      const failed = (reason: string, message: string) => report({ step: "failed", object, reason, message });
      if (decision?.missed) failed("TickMissed", missedText(decision.missed, decision));
      if (decision?.skipped) failed("TickSkipped", skippedText(decision.skipped));
      const orphan = orphanOf(before, after);
      if (orphan) failed(orphan.reason, orphan.message);
      if (!ended) return;
      const { status, reason, message } = ended.outcome;
      if (status === "True") failing.delete(key);
      else if (failing.get(key) !== reason) failed(reason, `The tick of ${ended.tick}: ${message}`);
      if (status !== "True") failing.set(key, reason);
    },
    forget: (key) => void failing.delete(key),
  };
}

/** The condition that says since this write that nobody knows how a call of another process ended. */
function orphanOf(before: ObjectOf<"Trigger">, after: ObjectOf<"Trigger">) {
  const [was, is] = [before, after].map(({ status }) => findCondition(status?.conditions, LAST_CALL));
  return is?.reason === "EndUnknown" && was?.message !== is.message ? is : undefined;
}

function missedText(missed: Date, { fire }: TickDecision): string {
  const rest = fire ? `only the tick of ${timeText(fire)} is made up for` : "they are not made up for";
  return `No call was made from ${timeText(missed)} on, for nobody was there in time; ${rest}.`;
}

function skippedText(tick: Date): string {
  return `No call was made at ${timeText(tick)}: the last one is still under way, and concurrencyPolicy is Forbid.`;
}
