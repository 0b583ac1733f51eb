import { expect, it } from "vitest";
import type { ObjectOf, TriggerSpec } from "../../src/apis/index.ts";
import { triggerStatus } from "../../src/reconcilers/trigger.ts";

const NOW = "2026-01-01T00:00:00.000Z";
const URL = "http://127.0.0.1:9090/fn/default/hello";

function trigger(spec: Partial<TriggerSpec> = {}): ObjectOf<"Trigger"> {
  return {
    apiVersion: "sless.kube5s.ru/v1alpha1",
    kind: "Trigger",
    metadata: {
      name: "t",
      namespace: "default",
      uid: "u",
      resourceVersion: "1",
      generation: 1,
      creationTimestamp: NOW,
    },
    spec: { type: "http", functionRef: "hello", enabled: true, ...spec },
  };
}

const cases = {
  "an enabled http trigger of a function tells its address": {
    spec: {},
    url: URL,
    expected: { active: true, url: URL, reason: "Active" },
  },
  "a disabled one has no address and is ready": {
    spec: { enabled: false },
    url: URL,
    expected: { active: false, url: undefined, reason: "Disabled" },
  },
  "without its function it waits": {
    spec: {},
    url: undefined,
    expected: { active: false, url: undefined, reason: "FunctionNotFound" },
  },
  "an event trigger says that it is not served": {
    spec: { type: "event", queue: "orders" },
    url: URL,
    expected: { active: false, url: undefined, reason: "TypeNotServed" },
  },
} as const;

it.each(Object.entries(cases))("%s", (_name, { spec, url, expected }) => {
  const status = triggerStatus(trigger(spec), url, NOW);
  expect({ active: status.active, url: status.url, reason: status.conditions?.[0]?.reason }).toEqual(expected);
});
