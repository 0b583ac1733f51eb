import { expect, it } from "vitest";
import { replicaLeases } from "../../../src/platform/kubernetes/lease-replicas.ts";

const workload = { kind: "Function", namespace: "demo", name: "hello" } as const;

it("a lease goes to the least busy replica, then to the one that waited longest, and counts once", () => {
  let endpoints = [
    { address: "10.0.0.1", replica: "a" },
    { address: "fd00::2", replica: "b" },
  ];
  const acquire = replicaLeases(() => endpoints);
  const first = acquire(workload)!;
  const second = acquire(workload)!;
  expect([first.origin, second.origin]).toEqual(["http://10.0.0.1:8080", "http://[fd00::2]:8080"]);
  first.release();
  first.release();
  expect(acquire(workload)!.replica).toBe("a");
  second.release();
  expect(acquire(workload)!.replica).toBe("b");
  endpoints = endpoints.slice(1);
  expect(acquire(workload)!.replica).toBe("b");
  endpoints = [];
  expect(acquire(workload)).toBeUndefined();
});
