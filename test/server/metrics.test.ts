import { expect, it } from "vitest";
import { createMetrics } from "../../src/server/index.ts";

it("steps, queues and numbers of other parts are told", async () => {
  const metrics = createMetrics();
  const object = { kind: "Function", namespace: "default", name: "hello" } as const;
  metrics.report({ step: "built", object, imageRef: "x", reused: true, durationMs: 1_500 });
  metrics.report({ step: "failed", object, reason: "BuildFailed", message: "no" });
  metrics.report({ step: "notice", message: "hello" });
  metrics.watchQueue("functions", () => 3);
  metrics.watch("sless_gateway_calls_in_flight", "Calls in flight", () => 7);
  const text = await metrics.text();
  expect(text).toContain('sless_steps_total{step="built",reused="true"} 1');
  expect(text).toContain('sless_steps_total{step="failed",reused="false"} 1');
  expect(text).toContain('sless_step_duration_seconds_sum{step="built"} 1.5');
  expect(text).toContain('sless_queue_depth{queue="functions"} 3');
  expect(text).toContain("sless_gateway_calls_in_flight 7");
  expect(text).not.toContain("notice");
});

it("functions beyond a thousand are counted together", async () => {
  const metrics = createMetrics();
  for (let index = 0; index < 1_200; index += 1)
    metrics.onCall({ namespace: "default", name: `f${index}`, status: 200, durationMs: 1 });
  const text = await metrics.text();
  expect(text.match(/^sless_gateway_calls_total\{/gm)).toHaveLength(1_001);
  expect(text).toContain('sless_gateway_calls_total{namespace="other",function="other",status="200"} 200');
});

it("statuses that HTTP does not know are counted together", async () => {
  const metrics = createMetrics();
  for (let status = 200; status < 1_000; status += 1)
    metrics.onCall({ namespace: "default", name: "hello", status, durationMs: 1 });
  const text = await metrics.text();
  expect(text).toContain('function="hello",status="404"} 1');
  expect(text).toContain('function="hello",status="499"} 1');
  expect(text.match(/^sless_gateway_calls_total\{/gm)!.length).toBeLessThan(80);
});
