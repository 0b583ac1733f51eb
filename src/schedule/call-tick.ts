import type { Readable } from "node:stream";
import type { ConditionUpdate, ObjectOf, WorkloadRef } from "../apis/index.ts";
import { pause, type TimerClock } from "../controller/index.ts";
import { isSlessError, messageOf } from "../errors/index.ts";
import type { InternalAnswer, InternalCall } from "../gateway/index.ts";

/**
 * Calls a workload through the gateway, in this process or over its internal port.
 *
 * @throws SlessError when not the function answers; `function_not_ready`, `scaled_to_zero` and `capacity_exceeded`
 *   mean that the call never reached it
 */
export type Invoke = (workload: WorkloadRef, call: InternalCall) => Promise<InternalAnswer>;

/** How the call of a tick ended, as the condition `LastCall` tells it. */
export type CallOutcome = Pick<ConditionUpdate, "status" | "reason" | "message">;

export interface TickCall {
  readonly trigger: ObjectOf<"Trigger">;
  readonly workload: WorkloadRef;
  /** RFC 3339, whole seconds. */
  readonly tick: string;
  readonly signal: AbortSignal;
}

/** A function that is being started or has no free place is tried again for so long. */
const WAIT_MS = 60_000;
/** First pause before the next try; each is twice as long as the one before, up to the longest. */
const RETRY_MS = 250;
const RETRY_MAX_MS = 5_000;
/** Of the answer, this much is kept. */
const KEPT_BYTES = 1_024;

/** The tick's name, which the function gets as its request id: the same whoever calls, and never used twice. */
export function tickId({ metadata }: ObjectOf<"Trigger">, tick: string): string {
  return `${metadata.uid}/${tick}`;
}

/** Calls the function for a tick that was claimed; what was not delivered may be tried again, nothing else is. Never rejects. */
export async function callTick(
  call: TickCall,
  { invoke, clock }: { readonly invoke: Invoke; readonly clock: TimerClock },
): Promise<CallOutcome> {
  const begin = clock.monotonicMs();
  for (let pauseMs = RETRY_MS; ; pauseMs = Math.min(2 * pauseMs, RETRY_MAX_MS)) {
    try {
      const answer = await invoke(call.workload, requestOf(call));
      const text = await textOf(answer);
      return answered(answer.status, text, clock.monotonicMs() - begin);
    } catch (error) {
      const waits = mayBecomeReady(error, call.trigger) && clock.monotonicMs() - begin < WAIT_MS;
      if (!waits || call.signal.aborted) return failed(error, call);
      await pause(pauseMs, clock, call.signal);
    }
  }
}

function requestOf({ trigger, tick, signal }: TickCall): InternalCall {
  return {
    trigger: "cron",
    requestId: tickId(trigger, tick),
    headers: {
      "content-type": "application/json",
      "x-cron-trigger": trigger.metadata.name,
      "x-cron-time": tick,
    },
    body: trigger.spec.eventJSON ?? "{}",
    signal,
  };
}

function mayBecomeReady(error: unknown, { status }: ObjectOf<"Trigger">): boolean {
  if (isSlessError(error, "scaled_to_zero")) return status?.warm === true;
  return isSlessError(error, "function_not_ready") || isSlessError(error, "capacity_exceeded");
}

function answered(status: number, text: string, durationMs: number): CallOutcome {
  const message = `It answered ${status} after ${Math.round(durationMs)} ms${text === "" ? "." : `: ${text}`}`;
  return status < 400
    ? { status: "True", reason: "Succeeded", message }
    : { status: "False", reason: "FunctionFailed", message };
}

function failed(error: unknown, { tick, signal }: TickCall): CallOutcome {
  if (signal.aborted)
    return endUnknown(`sless stopped before the call of the tick of ${tick} ended; it is not called again.`);
  const reason = isSlessError(error) ? camelCase(error.code) : "CallFailed";
  return { status: "False", reason, message: messageOf(error) };
}

/** What is told of a call whose end nobody saw. */
export function endUnknown(message: string): CallOutcome {
  return { status: "Unknown", reason: "EndUnknown", message };
}

function camelCase(code: string): string {
  return code.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** Reads the whole answer, for the call ends with it, and keeps its beginning where that is text. */
async function textOf({ body, headers }: InternalAnswer): Promise<string> {
  const kept = await beginningOf(body);
  const isText = /json|^text\//.test(headers["content-type"] ?? "");
  const total = kept.bytes === kept.start.length ? "" : ` … (${kept.bytes} bytes)`;
  if (isText) return new TextDecoder().decode(kept.start).replaceAll("\0", "\ufffd") + total;
  return kept.bytes === 0 ? "" : `${kept.bytes} bytes of ${headers["content-type"] ?? "no type"}`;
}

async function beginningOf(body: Readable): Promise<{ start: Buffer; bytes: number }> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    const part = chunk as Buffer;
    if (bytes < KEPT_BYTES) parts.push(part.subarray(0, KEPT_BYTES - bytes));
    bytes += part.length;
  }
  return { start: Buffer.concat(parts), bytes };
}
