import { expect, it } from "vitest";
import { eventually } from "../eventually.ts";
import { type ApiAnswer, describeOnCluster, refuseObjects, type TestCluster } from "./index.ts";

const isDone = (answer: ApiAnswer) => answer.status < 300;

async function create(cluster: TestCluster, path: string, body: object): Promise<void> {
  const answer = await cluster.request("POST", path, { body });
  if (!isDone(answer)) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
}

function container(image: string, env: Record<string, string> = {}) {
  return { name: "main", image, env: Object.entries(env).map(([name, value]) => ({ name, value })) };
}

async function deploy(cluster: TestCluster, namespace: string, image: string): Promise<void> {
  const labels = { app: "web" };
  const template = { metadata: { labels }, spec: { containers: [container(image)] } };
  const spec = { replicas: 2, selector: { matchLabels: labels }, template };
  await create(cluster, `/apis/apps/v1/namespaces/${namespace}/deployments`, { metadata: { name: "web" }, spec });
}

async function pods(cluster: TestCluster, namespace: string) {
  const { body } = await cluster.request("GET", `/api/v1/namespaces/${namespace}/pods`);
  return body.items as { metadata: { name: string }; status: { phase: string; containerStatuses?: Container[] } }[];
}

interface Container {
  readonly ready: boolean;
  readonly state: { readonly waiting?: { readonly reason: string }; readonly running?: object };
}

interface JobEnd {
  readonly condition: string;
  readonly message: string;
}

async function runJob(
  cluster: TestCluster,
  namespace: string,
  image: string,
  env: Record<string, string>,
): Promise<JobEnd> {
  const template = { spec: { restartPolicy: "Never", containers: [container(image, env)] } };
  const jobs = `/apis/batch/v1/namespaces/${namespace}/jobs`;
  await create(cluster, jobs, { metadata: { name: "run" }, spec: { backoffLimit: 0, template } });
  const ended = ["Complete", "Failed"];
  const conditions = await eventually(
    "the job ends",
    async () =>
      ((await cluster.request("GET", `${jobs}/run`)).body.status?.conditions ?? []) as {
        type: string;
        status: string;
      }[],
    (seen) => seen.some(({ type, status }) => ended.includes(type) && status === "True"),
  );
  const { body } = await cluster.request("GET", `/api/v1/namespaces/${namespace}/pods`);
  return {
    condition: conditions.find(({ type }) => ended.includes(type))!.type,
    message: body.items[0].status.containerStatuses[0].state.terminated.message,
  };
}

describeOnCluster("the test cluster", (cluster) => {
  it("makes a Deployment available", async () => {
    const namespace = await cluster().createNamespace();
    await deploy(cluster(), namespace, "registry.test/web:1");
    const seen = await eventually(
      "the Deployment is available",
      () => cluster().request("GET", `/apis/apps/v1/namespaces/${namespace}/deployments/web`),
      ({ body }) => body.status?.availableReplicas === 2,
    );
    expect(seen.body.status).toMatchObject({ replicas: 2, readyReplicas: 2, updatedReplicas: 2 });
  });

  it.each([
    ["missing", { ready: false, state: { waiting: { reason: "ImagePullBackOff" } } }],
    ["crashing", { ready: false, restartCount: 3, state: { waiting: { reason: "CrashLoopBackOff" } } }],
    ["unready", { ready: false, state: { running: {} } }],
    ["failing", { ready: true, state: { running: {} } }],
  ])("shows what becomes of pods whose image is %s", async (word, expected) => {
    const namespace = await cluster().createNamespace();
    await deploy(cluster(), namespace, `registry.test/${word}@sha256:${"0".repeat(64)}`);
    const seen = await eventually(
      "the pods are looked after",
      () => pods(cluster(), namespace),
      (found) => found.length === 2 && found.every(({ status }) => status.containerStatuses !== undefined),
    );
    for (const { status } of seen) expect(status.containerStatuses).toMatchObject([expected]);
  });

  it.each([
    ["fine", {}, { condition: "Complete", message: "done" }],
    [
      "fine",
      { TEST_RESULT: '{"sum":3,"text":"a\\n: b"}' },
      { condition: "Complete", message: '{"sum":3,"text":"a\\n: b"}' },
    ],
    ["fine", { TEST_RESULT: `${"x".repeat(5_000)}.` }, { condition: "Complete", message: `${"x".repeat(4_095)}.` }],
    ["failing", {}, { condition: "Failed", message: "failed" }],
    ["crashing", { TEST_RESULT: "no such table" }, { condition: "Failed", message: "no such table" }],
  ])("ends a Job of the image %s with its message (%#)", async (image, env, expected) => {
    const namespace = await cluster().createNamespace();
    expect(await runJob(cluster(), namespace, `registry.test/${image}:1`, env as Record<string, string>)).toEqual(
      expected,
    );
  });

  it("lets a user do what RBAC allows its group", async () => {
    const namespace = await cluster().createNamespace();
    const token = await cluster().tokenFor({ user: "ann", groups: ["team-a"] });
    const list = () => cluster().request("GET", `/api/v1/namespaces/${namespace}/pods`, { token });
    expect((await list()).status).toBe(403);
    await create(cluster(), `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/rolebindings`, {
      metadata: { name: "team-a" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" },
      subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: "team-a" }],
    });
    await eventually("the binding holds", list, isDone);
  });

  it("gives a service account a token that the API server knows again", async () => {
    const namespace = await cluster().createNamespace();
    await create(cluster(), `/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name: "robot" } });
    const token = await cluster().tokenFor({ serviceAccount: "robot", namespace }, { audiences: ["gateway"] });
    const review = { spec: { token, audiences: ["gateway"] } };
    const { body } = await cluster().request("POST", "/apis/authentication.k8s.io/v1/tokenreviews", { body: review });
    expect(body.status).toMatchObject({
      authenticated: true,
      audiences: ["gateway"],
      user: { username: `system:serviceaccount:${namespace}:robot` },
    });
  });

  it.each(["bogus", "user.e30.bogus"])("refuses the token %s", async (token) => {
    expect((await cluster().request("GET", "/api/v1/nodes", { token })).status).toBe(401);
  });

  it("serves sless's kinds and refuses what their schemas do", async () => {
    const namespace = await cluster().createNamespace();
    const functions = `/apis/sless.kube5s.ru/v1alpha1/namespaces/${namespace}/functions`;
    const hello = {
      apiVersion: "sless.kube5s.ru/v1alpha1",
      kind: "Function",
      metadata: { name: "hello" },
      spec: { runtime: "python3.11" },
    };
    await create(cluster(), functions, hello);
    const broken = { ...hello, metadata: { name: "broken" }, spec: { ...hello.spec, memoryMB: "much" } };
    expect((await cluster().request("POST", functions, { body: broken })).status).toBe(422);
  });

  it("refuses what an admission webhook of one's own refuses, in its namespace alone", async () => {
    const [namespace, other] = [await cluster().createNamespace(), await cluster().createNamespace()];
    const post = (where: string, name: string) =>
      cluster().request("POST", `/api/v1/namespaces/${where}/secrets`, { body: { metadata: { name } } });
    {
      await using _webhook = await refuseObjects(cluster(), {
        namespace,
        apiGroup: "",
        resource: "secrets",
        because: ({ metadata }) => (metadata.name === "bad" ? "it is bad" : undefined),
      });
      const refused = await post(namespace, "bad");
      expect(refused).toMatchObject({ status: 400, body: { message: expect.stringContaining("it is bad") } });
      expect([(await post(namespace, "good")).status, (await post(other, "bad")).status]).toEqual([201, 201]);
    }
    await eventually("the webhook is gone", () => post(namespace, "bad"), isDone);
  });

  it("tells the log of a pod and follows it until the pod is gone", async () => {
    const namespace = await cluster().createNamespace();
    await deploy(cluster(), namespace, "registry.test/web:1");
    const [pod] = await eventually(
      "the pods run",
      () => pods(cluster(), namespace),
      (found) => found.length === 2 && found.every(({ status }) => status.phase === "Running"),
    );
    const path = `/api/v1/namespaces/${namespace}/pods/${pod!.metadata.name}`;
    expect((await cluster().request("GET", `${path}/log`)).body).toBe(`log of ${namespace}/${pod!.metadata.name}\n`);
    await cluster().appendPodLog(namespace, "web-", "one\ntwo\n");
    expect((await cluster().request("GET", `${path}/log?tailLines=1`)).body).toBe("two\n");
    const followed = cluster().request("GET", `${path}/log?follow=true`);
    await cluster().appendPodLog(namespace, "web-", "three\n");
    await cluster().request("DELETE", path);
    expect((await followed).body).toBe("one\ntwo\nthree\n");
  });
});
