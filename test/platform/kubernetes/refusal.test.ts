import { describe, expect, it } from "vitest";
import { SlessError } from "../../../src/errors/index.ts";
import { ApiError } from "../../../src/kubernetes/index.ts";
import { refusalOf } from "../../../src/platform/kubernetes/refusal.ts";

const answer = (status: number, message: string) => new ApiError(status, { message });

describe("what the cluster answers to a child", () => {
  it.each<[string, unknown, string]>([
    ["a policy", answer(422, "denied by policy"), "Refused"],
    ["a right", answer(403, 'deployments is forbidden: User "x" cannot create'), "Refused"],
    ["a quota", answer(403, "exceeded quota: tenant"), "QuotaExceeded"],
    ["a webhook with a status of its own", answer(409, 'admission webhook "a.b" denied the request: no'), "Refused"],
    ["a webhook that fails", answer(500, 'Internal error occurred: failed calling webhook "a.b": refused'), "Refused"],
    ["more than a request may have", answer(413, "Request entity too large: limit is 3145728"), "Refused"],
    ["more than etcd takes", answer(500, "etcdserver: request is too large"), "Refused"],
    ["a missing Secret", new SlessError("secret_missing", { secret: "api", key: "token" }), "SecretMissing"],
  ])("is a refusal: %s", (_, error, reason) => {
    expect(refusalOf(error, "child")).toEqual({ reason, message: expect.stringMatching(/\S/) });
  });

  it.each<[string, unknown]>([
    ["a conflict", answer(409, "the object has been modified")],
    ["a server that is starting", answer(503, "apiserver not ready")],
    ["a fault of the server", answer(500, "etcdserver: leader changed")],
    ["a namespace that is going", answer(403, "because it is being terminated")],
    ["no answer", new SlessError("cluster_unavailable", { cause: "refused" })],
  ])("is tried again: %s", (_, error) => {
    expect(refusalOf(error, "child")).toBeUndefined();
  });
});
