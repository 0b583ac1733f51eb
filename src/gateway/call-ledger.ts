import type { Logger } from "pino";
import { type ObjectKey, refText, type WorkloadRef } from "../apis/index.ts";
import type { Clock } from "../controller/index.ts";
import { SlessError } from "../errors/index.ts";
import { callCount } from "./call-count.ts";
import type { Endpoint, EndpointTable } from "./endpoint-table.ts";
import type { CallOutcome } from "./proxy-call.ts";

export interface FinishedCall {
  readonly namespace: string;
  readonly name: string;
  /** 499 when the client went away before the answer was complete. */
  readonly status: number;
  readonly durationMs: number;
}

export interface CallLedgerDeps {
  readonly endpoints: EndpointTable;
  readonly clock: Clock;
  readonly log: Pick<Logger, "warn" | "debug">;
  readonly onCall: ((call: FinishedCall) => void) | undefined;
  /** Calls in flight per workload. */
  readonly callsMax: number;
}

/** Which calls may begin, which are in flight, and how they ended. */
export interface CallLedger {
  /** @throws SlessError `no_such_function`, `capacity_exceeded` */
  admit(key: ObjectKey, allows: (endpoint: Endpoint) => boolean): Endpoint;
  /** Counts a call that begins. @returns ends it, once: it is counted, told and logged */
  open(endpoint: Endpoint, requestId: string): (outcome: CallOutcome) => void;
  inFlight(): number;
  /** Resolves when no call is in flight. */
  idle(): Promise<void>;
}

export function createCallLedger(deps: CallLedgerDeps): CallLedger {
  const counts = new Map<string, number>();
  const all = callCount();
  const countOf = (workload: WorkloadRef) => counts.get(refText(workload)) ?? 0;

  function count(workload: WorkloadRef, change: 1 | -1): void {
    const left = countOf(workload) + change;
    if (left === 0) counts.delete(refText(workload));
    else counts.set(refText(workload), left);
  }
  return {
    admit(key, allows) {
      const details = { namespace: key.namespace, name: key.name };
      const endpoint = deps.endpoints.find(key);
      if (!endpoint || !allows(endpoint)) throw new SlessError("no_such_function", details);
      if (countOf(endpoint.workload) >= deps.callsMax) throw new SlessError("capacity_exceeded", details);
      return endpoint;
    },
    open({ workload }, requestId) {
      const { namespace, name } = workload;
      const began = deps.clock.monotonicMs();
      const end = all.begin();
      count(workload, 1);
      return (outcome) => {
        count(workload, -1);
        end();
        deps.onCall?.({ namespace, name, status: outcome.status, durationMs: deps.clock.monotonicMs() - began });
        logOutcome(deps.log, { namespace, name, requestId }, outcome);
      };
    },
    inFlight: all.count,
    idle: all.idle,
  };
}

function logOutcome(log: CallLedgerDeps["log"], fields: object, { status, error }: CallOutcome): void {
  if (!error) return;
  // A function that is scaled to zero or starts is no event worth a line per call.
  const level = error.status === 503 && error.code !== "replica_replaced" ? "debug" : "warn";
  log[level]({ ...fields, status, code: error.code, err: error.cause ?? error }, "call failed");
}
