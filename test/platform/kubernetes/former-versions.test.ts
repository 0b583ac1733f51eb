import { expect, it } from "vitest";
import type { WorkloadRef } from "../../../src/apis/index.ts";
import { ApiError, type ApiRequest, type KubernetesClient } from "../../../src/kubernetes/index.ts";
import { childWriter } from "../../../src/platform/kubernetes/child-writer.ts";
import type { ClusterView } from "../../../src/platform/kubernetes/cluster-view.ts";
import { dropFormer } from "../../../src/platform/kubernetes/former-versions.ts";
import type { LiveReplicaSet } from "../../../src/platform/kubernetes/live-objects.ts";

const workload: WorkloadRef = { kind: "Function", namespace: "demo", name: "hello" };

const replicaSet = (revision: number, more: { isUsed?: boolean; owner?: string } = {}): LiveReplicaSet => ({
  metadata: {
    name: `hello-${revision}`,
    namespace: "sless-fn-demo",
    uid: `uid-${revision}`,
    resourceVersion: `${revision}`,
    ownerReferences: [{ apiVersion: "apps/v1", kind: "Deployment", name: "any", uid: more.owner ?? "own" }],
  },
  image: "image",
  revision,
  isUsed: more.isUsed ?? false,
});

/** What is deleted of these, as the API server is asked for it. */
async function dropped(replicaSets: readonly LiveReplicaSet[], answer: () => Promise<unknown> = async () => ({})) {
  const asked: ApiRequest[] = [];
  const client = {
    request: (request: ApiRequest) => {
      asked.push(request);
      return answer();
    },
  } as unknown as KubernetesClient;
  const view = {
    deployment: () => ({ metadata: { name: "hello", uid: "own" } }),
    replicaSets: () => replicaSets,
    children: () => [],
  } as unknown as ClusterView;
  const warned: string[] = [];
  const log = { warn: (_fields: object, message: string) => void warned.push(message) };
  await dropFormer(workload, [], false, { view, writer: childWriter(client), log });
  return { asked, warned };
}
const revisions = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);

it("of revisions without pods the oldest go, and none that has pods, is the newest, or is another Deployment's", async () => {
  const { asked } = await dropped([
    ...revisions(21, 40).map((revision) => replicaSet(revision, { owner: "a copy of it" })),
    replicaSet(13),
    ...revisions(3, 12).map((revision) => replicaSet(revision)),
    replicaSet(2),
    replicaSet(1, { isUsed: true }),
  ]);
  const path = "/apis/apps/v1/namespaces/sless-fn-demo/replicasets/hello-2";
  const preconditions = { uid: "uid-2", resourceVersion: "2" };
  expect(asked).toEqual([{ method: "DELETE", path, body: { propagationPolicy: "Background", preconditions } }]);
});

it("a revision that is used again meanwhile stays, and is no error", async () => {
  const conflict = async () => {
    throw new ApiError(409, { message: "the ResourceVersion in the precondition does not match" });
  };
  const { asked, warned } = await dropped(
    revisions(1, 12).map((revision) => replicaSet(revision)),
    conflict,
  );
  expect(asked.map(({ path }) => path.split("/").at(-1))).toEqual(["hello-1"]);
  expect(warned).toEqual([]);
});
