import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ANNOTATIONS, type AnyObject, isDeletionApproved, ownerAnnotation, ownerUidOf } from "../../src/apis/index.ts";

const UID = "6a1c";
function object(
  annotations: Record<string, string>,
  more: { kind?: "Function" | "Service"; name?: string } = {},
): AnyObject {
  return {
    apiVersion: "sless.kube5s.ru/v1alpha1",
    kind: more.kind ?? "Function",
    metadata: {
      name: more.name ?? "hello",
      namespace: "default",
      uid: "u1",
      resourceVersion: "1",
      generation: 1,
      creationTimestamp: "2024-01-01T00:00:00Z",
      annotations,
    },
    spec: { runtime: "python3.11" },
  };
}
const owned = (text: string, more = {}) => ownerUidOf(object({ [ANNOTATIONS.owner]: text }, more));

describe("the owner", () => {
  it("is the repository that the annotation names for this very object", () => {
    expect(ownerAnnotation(UID, object({}))).toBe("6a1c/Function/default/hello");
    expect(owned("6a1c/Function/default/hello")).toBe(UID);
  });

  it.each([
    ["a copy under another name", "6a1c/Function/default/other"],
    ["a copy from another namespace", "6a1c/Function/other/hello"],
    ["a copy of another kind", "6a1c/Service/default/hello"],
    ["no repository", "/Function/default/hello"],
    ["no path", "6a1c"],
    ["more than the object", "6a1c/Function/default/hello/x"],
    ["nothing", ""],
  ])("is nobody for %s", (_what, text) => {
    expect(owned(text)).toBeUndefined();
  });

  it("is nobody without annotations", () => {
    const plain = object({});
    delete plain.metadata.annotations;
    expect(ownerUidOf(plain)).toBeUndefined();
  });

  it("is read as it was written, whatever the UID without a slash", () => {
    const uid = fc.string({ minLength: 1 }).filter((text) => !text.includes("/"));
    fc.assert(fc.property(uid, (text) => owned(ownerAnnotation(text, object({}))) === text));
  });
});

describe("an approval", () => {
  const approval = (text: string) => isDeletionApproved(object({ [ANNOTATIONS.deletionApproved]: text }), UID);

  it("covers the object of that UID, for that repository", () => {
    expect(approval("6a1c/u1")).toBe(true);
  });

  it.each(["6a1c/u2", "other/u1", "6a1c", "", "6a1c/u1/x"])("%j covers nothing", (text) => {
    expect(approval(text)).toBe(false);
  });

  it("is not there without its annotation", () => {
    expect(isDeletionApproved(object({}), UID)).toBe(false);
  });
});
