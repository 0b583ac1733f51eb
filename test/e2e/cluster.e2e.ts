// Brings "helm", "kubectl" and "kwok".
import { randomBytes } from "node:crypto";
import { request } from "undici";
import { afterAll, beforeAll, expect, it } from "vitest";
import { GROUP, sourceDigestOfKey, VERSION } from "../../src/apis/index.ts";
import { API_RESOURCES, type ApiObject, apiPath, PATCH_TYPES } from "../../src/kubernetes/index.ts";
import { eventually } from "../support/eventually.ts";
import { kubectl } from "../support/kubectl.ts";
import type { BuiltImage } from "./build-image.ts";
import { installChart, NAMESPACE, uninstallChart } from "./chart-release.ts";
import { buildRuntimeImage, pushFunctionImage } from "./function-images.ts";
import { FUNCTIONS, filesOf, type TestFunction } from "./function-texts.ts";
import { type GitServer, startGitServer } from "./git-server.ts";
import { type E2eCluster, openCluster } from "./open-cluster.ts";
import { readE2eSettings } from "./settings.ts";
import { addTestRoot, buildSlessImage } from "./sless-image.ts";
import { addSpareNodes } from "./spare-nodes.ts";

const RUN = randomBytes(3).toString("hex");
const BUILDS = "sless-e2e-builds";
const TENANT = `e2e-${RUN}`;
const SERVES_WITHIN_MS = 60_000;
/** Of all pods of a node: they start one after the other. */
const RECOVERS_WITHIN_MS = 180_000;

interface FunctionObject extends ApiObject {
  readonly spec: { readonly s3Key?: string };
}

interface PodObject extends ApiObject {
  readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

let cluster: E2eCluster;
let git: GitServer;
const runtimes = new Map<string, BuiltImage>();
let gateway: string;

beforeAll(async () => {
  cluster = await openCluster(readE2eSettings(process.env));
  git = await startGitServer(cluster.settings.hostAddress);
  await cluster.apply("Namespace", {
    metadata: { name: BUILDS, labels: { "pod-security.kubernetes.io/enforce": "baseline" } },
  });
  for (const { runtime } of FUNCTIONS) runtimes.set(runtime, await buildRuntimeImage(cluster, BUILDS, runtime));
  await installChart(cluster, await addTestRoot(cluster, await buildSlessImage(cluster, BUILDS)));
  const service = await cluster.get<ApiObject & { spec: { clusterIP: string } }>(
    apiPath(API_RESOURCES.Service, { namespace: NAMESPACE, name: "sless-gateway" }),
  );
  gateway = `http://${service!.spec.clusterIP}`;
});

afterAll(async () => {
  await git?.[Symbol.asyncDispose]();
  await cluster?.[Symbol.asyncDispose]();
});

/** What the gateway's Service answers: the body, or what is wrong. */
async function call(name: string): Promise<string> {
  try {
    // Each call on a connection of its own: one that is kept stays with the pod that it was made to.
    const answer = await request(`${gateway}/fn/${TENANT}/${name}`, { reset: true, headersTimeout: 10_000 });
    return await answer.body.text();
  } catch (error) {
    return String(error);
  }
}

const answers = (name: string, text: string, withinMs = SERVES_WITHIN_MS) =>
  eventually(
    `${name} answers`,
    () => call(name),
    (seen) => seen === text,
    withinMs,
  );

const pathOf = (plural: string, name: string) => `/apis/${GROUP}/${VERSION}/namespaces/${TENANT}/${plural}/${name}`;

const digestIn = (name: string, { spec }: FunctionObject) =>
  sourceDigestOfKey({ kind: "Function", namespace: TENANT, name }, spec.s3Key);

/** Pushes a version to git, and its image once the controller asks for it. */
async function deploy(fn: TestFunction, text: string, before?: string): Promise<string> {
  const { name, runtime, file, code } = fn;
  await git.push(`${name} says ${text}`, filesOf(fn, text));
  await hint();
  const seen = await eventually(
    `the source of ${name}`,
    () => cluster.get<FunctionObject>(pathOf("functions", name)),
    (object) => object !== undefined && ![undefined, before].includes(digestIn(name, object)),
    SERVES_WITHIN_MS,
  );
  const sourceDigest = digestIn(name, seen!)!;
  const version = { namespace: TENANT, name, runtime, sourceDigest, handler: [file, code(text)] as const };
  await pushFunctionImage(cluster, BUILDS, version, runtimes.get(runtime)!);
  return sourceDigest;
}

/** What a forge's webhook comes to: look now. */
async function hint(): Promise<void> {
  const annotations = { "sless.kube5s.ru/requestedAt": new Date().toISOString() };
  const path = pathOf("repositories", "functions");
  const body = { metadata: { annotations } };
  await cluster.client.request({ method: "PATCH", path, body, contentType: PATCH_TYPES.merge });
}

/** Resolves when as many others are ready. */
async function killPods(namespace: string): Promise<void> {
  const path = apiPath(API_RESOURCES.Pod, { namespace });
  const pods = async () => (await cluster.client.request<{ items: PodObject[] }>({ method: "GET", path })).items;
  const before = await pods();
  const killed = new Set(before.map(({ metadata }) => metadata.uid));
  const count = before.filter(({ metadata }) => !metadata.deletionTimestamp).length;
  await cluster.client.request({ method: "DELETE", path, query: { gracePeriodSeconds: 0 } });
  const isReady = ({ metadata, status }: PodObject) =>
    !killed.has(metadata.uid) && status.conditions?.some((each) => each.type === "Ready" && each.status === "True");
  const areBack = (seen: PodObject[]) => seen.length === count && seen.every(isReady);
  await eventually(`the pods of ${namespace} are back`, pods, areBack, RECOVERS_WITHIN_MS);
}

const digests = new Map<string, string>();

it("a repository of functions in three languages is deployed by a push, and all answer", async () => {
  await cluster.apply("Namespace", { metadata: { name: TENANT } });
  const repository = {
    apiVersion: `${GROUP}/${VERSION}`,
    kind: "Repository",
    metadata: { name: "functions", namespace: TENANT },
    spec: { url: git.url, ref: { branch: "main" }, interval: "1h" },
  };
  await git.push("nothing yet", { "README.md": "Functions of the end-to-end tests.\n" });
  await kubectl(cluster.settings.kubeconfig, ["apply", "-f", "-"], JSON.stringify(repository));
  for (const fn of FUNCTIONS) digests.set(fn.name, await deploy(fn, `first of ${fn.name}`));
  for (const { name } of FUNCTIONS) await answers(name, `first of ${name}`);
});

it("kubectl waits for a function as for any other object", async () => {
  const wait = [
    "wait",
    "--for=condition=Ready",
    "--timeout=30s",
    "--namespace",
    TENANT,
    "functions.sless.kube5s.ru",
    "--all",
  ];
  expect(await kubectl(cluster.settings.kubeconfig, wait)).toContain("gopher condition met");
});

it.each(FUNCTIONS)("a push changes what the gateway's Service answers: $runtime", async (fn) => {
  digests.set(fn.name, await deploy(fn, `second of ${fn.name}`, digests.get(fn.name)));
  await answers(fn.name, `second of ${fn.name}`);
});

it("functions come back when all of their pods are killed", async () => {
  await killPods(`sless-fn-${TENANT}`);
  for (const { name } of FUNCTIONS) await answers(name, `second of ${name}`);
});

it("sless comes back when its pods are killed, and goes on deploying", async () => {
  await killPods(NAMESPACE);
  for (const { name } of FUNCTIONS) await answers(name, `second of ${name}`, RECOVERS_WITHIN_MS);
  const [fn] = FUNCTIONS;
  digests.set(fn!.name, await deploy(fn!, "third", digests.get(fn!.name)));
  await answers(fn!.name, "third");
});

it("all recovers when the node is drained and uncordoned", { timeout: 400_000 }, async () => {
  const run = (...args: string[]) => kubectl(cluster.settings.kubeconfig, args);
  const nodes = (await run("get", "nodes", "-o", "name")).trim().split("\n");
  {
    await using _spare = await addSpareNodes(cluster);
    for (const node of nodes)
      await run("drain", node, "--ignore-daemonsets", "--delete-emptydir-data", "--force", "--timeout=150s");
    for (const node of nodes) await run("uncordon", node);
  }
  for (const { name } of FUNCTIONS.slice(1)) await answers(name, `second of ${name}`, RECOVERS_WITHIN_MS);
  const [fn] = FUNCTIONS;
  await answers(fn!.name, "third", RECOVERS_WITHIN_MS);
  digests.set(fn!.name, await deploy(fn!, "fourth", digests.get(fn!.name)));
  await answers(fn!.name, "fourth");
});

it("an uninstalled chart leaves the objects and what serves", async () => {
  await uninstallChart(cluster);
  for (const { name } of FUNCTIONS) expect(await cluster.get(pathOf("functions", name))).toBeDefined();
  const pods = await kubectl(cluster.settings.kubeconfig, ["get", "pods", "-n", `sless-fn-${TENANT}`, "-o", "name"]);
  expect(pods.trim().split("\n").length).toBeGreaterThanOrEqual(FUNCTIONS.length);
});
