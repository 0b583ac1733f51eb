import { STATUS_CODES } from "node:http";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { FinishedCall } from "../gateway/index.ts";
import type { DeliveryOutcome } from "../hooks/index.ts";
import type { Reporter } from "../report/index.ts";

/** Functions beyond this many are counted together as `other`, so that no tenant can fill the memory with series. */
const FUNCTIONS_MAX = 1_000;
const OTHER = "other";
const CLIENT_GONE = 499;
const CALL_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900];
const STEP_SECONDS = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900];

/** What `/metrics` tells; all names begin with `sless_`. */
export interface Metrics {
  /** The exposition format and its content type. */
  text(): Promise<string>;
  readonly contentType: string;
  /** For the gateway's `onCall`. */
  onCall(call: FinishedCall): void;
  /** A connection was closed or turned away for want of room. */
  onShed(): void;
  /** For `onDelivery` of the webhooks. */
  onDelivery(outcome: DeliveryOutcome): void;
  /** Counts the steps of syncs, builds and rollouts as they are reported. */
  readonly report: Reporter;
  /** Reads a number whenever the metrics are asked for. `name` begins with `sless_`. */
  watch(name: string, help: string, read: () => number): void;
  /** Depth of a work queue, read whenever the metrics are asked for. */
  watchQueue(queue: string, depth: () => number): void;
}

export function createMetrics(registry: Registry = new Registry()): Metrics {
  const registers = [registry];
  const functions = boundedSet(FUNCTIONS_MAX);
  const calls = new Counter({
    name: "sless_gateway_calls_total",
    help: "Calls of functions by the status that the client got; 499 = it went away before, other = none of HTTP's",
    labelNames: ["namespace", "function", "status"] as const,
    registers,
  });
  const callSeconds = new Histogram({
    name: "sless_gateway_call_duration_seconds",
    help: "Time from the request's head to the end of the answer",
    labelNames: ["namespace", "function"] as const,
    buckets: CALL_SECONDS,
    registers,
  });
  const steps = new Counter({
    name: "sless_steps_total",
    help: "Steps on the way from a push to a running function: fetched, planned, stored, applied, built, serving, failed",
    labelNames: ["step", "reused"] as const,
    registers,
  });
  const stepSeconds = new Histogram({
    name: "sless_step_duration_seconds",
    help: "Time of one such step alone",
    labelNames: ["step"] as const,
    buckets: STEP_SECONDS,
    registers,
  });
  const deliveries = new Counter({
    name: "sless_webhook_deliveries_total",
    help: "Deliveries of webhooks by outcome: requested (a sync), ping, other_ref, suspended, refused, busy, failed",
    labelNames: ["outcome"] as const,
    registers,
  });
  const shed = new Counter({
    name: "sless_http_connections_shed_total",
    help: "Connections that were closed or turned away because there were too many",
    registers,
  });
  const queues = new Map<string, () => number>();
  new Gauge({
    name: "sless_queue_depth",
    help: "Keys that wait for a reconciler",
    labelNames: ["queue"] as const,
    registers,
    collect() {
      for (const [queue, depth] of queues) this.set({ queue }, depth());
    },
  });
  return {
    text: () => registry.metrics(),
    contentType: registry.contentType,
    onCall({ namespace, name, status, durationMs }) {
      const known = functions.has(`${namespace}/${name}`);
      const labels = known ? { namespace, function: name } : { namespace: OTHER, function: OTHER };
      calls.inc({ ...labels, status: statusLabel(status) });
      callSeconds.observe(labels, durationMs / 1_000);
    },
    onShed: () => shed.inc(),
    onDelivery: (outcome) => deliveries.inc({ outcome }),
    report(event) {
      if (event.step === "notice") return;
      const reused = event.step === "built" && event.reused ? "true" : "false";
      steps.inc({ step: event.step, reused });
      if ("durationMs" in event) stepSeconds.observe({ step: event.step }, event.durationMs / 1_000);
    },
    watch(name, help, read) {
      new Gauge({
        name,
        help,
        registers,
        collect() {
          this.set(read());
        },
      });
    },
    watchQueue: (queue, depth) => void queues.set(queue, depth),
  };
}

/** Functions choose their statuses: numbers that mean nothing are no series of their own. */
function statusLabel(status: number): string {
  return status in STATUS_CODES || status === CLIENT_GONE ? String(status) : OTHER;
}

/** The first `max` values that are asked for; no others. */
function boundedSet(max: number): { has(value: string): boolean } {
  const values = new Set<string>();
  return {
    has(value) {
      if (values.has(value)) return true;
      if (values.size >= max) return false;
      values.add(value);
      return true;
    },
  };
}
