import { expect, it } from "vitest";
import { checkTenantName } from "../../src/tenancy/tenant-name.ts";

it.each(["default", "demo", "a".repeat(54), "sless-0123456789abcdef", "kubernetes", "1a"])(
  "%s may be a user's",
  (name) => {
    expect(checkTenantName(name, "sless")).toBeUndefined();
  },
);

it.each([
  ["kube-system", /belongs to Kubernetes/],
  ["kube-public", /belongs to Kubernetes/],
  ["sless", /that of sless itself/],
  ["sless-fn-demo", /where functions run/],
  ["a".repeat(55), /longer than 54/],
  ["Demo", /is no name/],
  ["a/b", /is no name/],
  ["..", /is no name/],
  ["", /is no name/],
  ["-a", /is no name/],
])("%j may not: %s", (name, reason) => {
  expect(() => checkTenantName(name, "sless")).toThrow(reason);
});
