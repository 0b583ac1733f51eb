import { describe, expect, it } from "vitest";
import {
  FIELD_MANAGER,
  hasForeignFields,
  type ManagedFields,
  withForeignFieldsTaken,
} from "../../../src/platform/kubernetes/foreign-fields.ts";
import { liveMatches } from "../../../src/platform/kubernetes/live-matches.ts";

const own: ManagedFields = {
  manager: FIELD_MANAGER,
  operation: "Apply",
  apiVersion: "apps/v1",
  fieldsV1: { "f:spec": { "f:replicas": {} } },
};
const entry = (fieldsV1: ManagedFields["fieldsV1"], more: Partial<ManagedFields> = {}): ManagedFields => ({
  manager: "kubectl-edit",
  operation: "Update",
  apiVersion: "apps/v1",
  ...(fieldsV1 ? { fieldsV1 } : {}),
  ...more,
});
const annotation = (name: string) => ({
  "f:template": { "f:metadata": { "f:annotations": { ".": {}, [`f:${name}`]: {} } } },
});
const controller = entry(
  { "f:metadata": { "f:annotations": { "f:deployment.kubernetes.io/revision": {} } }, "f:status": {} },
  { manager: "kube-controller-manager", subresource: "status" },
);

describe("fields of others", () => {
  it.each<[string, ManagedFields[], boolean]>([
    ["none when there are no managed fields", [], false],
    ["none when sless alone wrote it", [own], false],
    ["none when the controller keeps its status", [own, controller], false],
    ["a spec that somebody edited", [own, entry({ "f:spec": { "f:paused": {} } })], true],
    ["a scale by its subresource", [own, entry({ "f:spec": { "f:replicas": {} } }, { subresource: "scale" })], true],
    ["data of a secret", [own, entry({ "f:data": { "f:a": {} } })], true],
    [
      "none when somebody asked for new pods",
      [own, entry({ "f:spec": annotation("kubectl.kubernetes.io/restartedAt") })],
      false,
    ],
    ["another annotation of the pods", [own, entry({ "f:spec": annotation("example.com/x") })], true],
    ["none for labels of others", [own, entry({ "f:metadata": { "f:labels": { "f:team": {} } } })], false],
    [
      "none for what an admission webhook changed while sless wrote",
      [own, entry({ "f:spec": { "f:paused": {} } }, { manager: FIELD_MANAGER })],
      false,
    ],
  ])("%s", (_, entries, expected) => {
    expect(hasForeignFields(entries)).toBe(expected);
  });

  it("are taken over as if sless had set them, and the rest stays", () => {
    const foreign = entry({ "f:spec": { "f:paused": {}, "f:replicas": {} } });
    expect(withForeignFieldsTaken([own, controller, foreign])).toEqual([
      { ...own, fieldsV1: { "f:spec": { "f:replicas": {}, "f:paused": {} } } },
      controller,
    ]);
  });

  it("are taken over where sless has no entry of its own any more", () => {
    const foreign = entry({ "f:spec": { "f:paused": {} } });
    expect(withForeignFieldsTaken([foreign])).toEqual([{ ...foreign, manager: FIELD_MANAGER, operation: "Apply" }]);
  });
});

describe("a live object", () => {
  const wanted = { spec: { replicas: 1, list: [{ name: "a" }], empty: {}, off: undefined } };
  it.each<[string, unknown, boolean]>([
    ["has what is wanted", { spec: { replicas: 1, list: [{ name: "a" }], empty: {} } }, true],
    [
      "has what is wanted beside defaults",
      { spec: { replicas: 1, list: [{ name: "a", mode: 1 }], more: 2 }, status: {} },
      true,
    ],
    ["has another value", { spec: { replicas: 2, list: [{ name: "a" }] } }, false],
    ["lacks a value", { spec: { list: [{ name: "a" }] } }, false],
    ["has an item more", { spec: { replicas: 1, list: [{ name: "a" }, { name: "b" }] } }, false],
    ["has an item less", { spec: { replicas: 1, list: [] } }, false],
    ["lacks the list", { spec: { replicas: 1 } }, false],
    ["is empty", {}, false],
  ])("that %s", (_, live, expected) => {
    expect(liveMatches(wanted, live)).toBe(expected);
  });
});
