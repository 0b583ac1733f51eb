import { expect, it } from "vitest";
import { API_RESOURCES, apiPath } from "../../src/kubernetes/index.ts";

it("a path names one object", () => {
  expect(apiPath(API_RESOURCES.Deployment, { namespace: "a", name: "b", subresource: "status" })).toBe(
    "/apis/apps/v1/namespaces/a/deployments/b/status",
  );
  expect(apiPath(API_RESOURCES.Secret, { namespace: "a", name: "b.c:d" })).toBe("/api/v1/namespaces/a/secrets/b.c%3Ad");
  expect(apiPath(API_RESOURCES.Namespace)).toBe("/api/v1/namespaces");
});

it.each(["", ".", "..", "../x", "a/status", "a\\b", "%2e", "a?b", "a#b", "a\0", "a\n"])(
  "%j in a path is refused, for it would lead somewhere else",
  (part) => {
    for (const at of [{ name: part }, { namespace: part }, { name: "a", subresource: part }])
      expect(() => apiPath(API_RESOURCES.Secret, at)).toThrow(expect.objectContaining({ code: "invalid_request" }));
  },
);
