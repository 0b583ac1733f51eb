// Brings "helm", "kubectl" and "kwok".
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { promisify } from "node:util";
import { request } from "undici";
import { afterAll, beforeAll, expect, it } from "vitest";
import { GROUP, VERSION } from "../../src/apis/index.ts";
import { API_RESOURCES, type ApiObject, apiPath, PATCH_TYPES } from "../../src/kubernetes/index.ts";
import { eventually } from "../support/eventually.ts";
import { kubectl } from "../support/kubectl.ts";
import { tagRunImage } from "./base-images.ts";
import { BUILD_NAMESPACE, installChart, NAMESPACE, uninstallChart } from "./chart-release.ts";
import { filesOf, type TestFunction, testFunctions } from "./function-texts.ts";
import { type GitServer, startGitServer } from "./git-server.ts";
import { type E2eCluster, openCluster } from "./open-cluster.ts";
import { readE2eSettings } from "./settings.ts";
import { buildSlessImage } from "./sless-image.ts";
import { addSpareNodes } from "./spare-nodes.ts";
import { addEditor, removeTenant } from "./tenants.ts";

const RUN = randomBytes(3).toString("hex");
const BUILDS = "sless-e2e-builds";
const TENANT = `e2e-${RUN}`;
const SLESS = join(import.meta.dirname, "../../bin/sless.js");
const FUNCTIONS = testFunctions(RUN);
const [SNAKE] = FUNCTIONS as [TestFunction];
/** Of a version whose image is appended. */
const SERVES_WITHIN_MS = 60_000;
/** Of versions that Jobs build, as many as there are functions. */
const BUILT_WITHIN_MS = 400_000;
/** Of all pods of a node: they start one after the other. */
const RECOVERS_WITHIN_MS = 180_000;

interface PodObject extends ApiObject {
  readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

let cluster: E2eCluster;
let git: GitServer;
let gateway: string;
let api: string;

beforeAll(async () => {
  cluster = await openCluster(readE2eSettings(process.env));
  git = await startGitServer(cluster.settings.hostAddress);
  await cluster.apply("Namespace", {
    metadata: { name: BUILDS, labels: { "pod-security.kubernetes.io/enforce": "baseline" } },
  });
  const [image] = await Promise.all([buildSlessImage(cluster, BUILDS), tagRunImage(cluster)]);
  await installChart(cluster, image);
  gateway = await addressOf("sless-gateway");
  api = await addressOf("sless-api");
});

afterAll(async () => {
  if (cluster) await removeTenant(cluster, TENANT, (plural) => pathOf(plural));
  await git?.[Symbol.asyncDispose]();
  await cluster?.[Symbol.asyncDispose]();
});

async function addressOf(name: string): Promise<string> {
  const path = apiPath(API_RESOURCES.Service, { namespace: NAMESPACE, name });
  const service = await cluster.get<ApiObject & { spec: { clusterIP: string } }>(path);
  return service!.spec.clusterIP;
}

/** What the gateway's Service answers: the body, or what is wrong. */
async function call(name: string): Promise<string> {
  try {
    // Each call on a connection of its own: one that is kept stays with the pod that it was made to.
    const answer = await request(`http://${gateway}/fn/${TENANT}/${name}`, { reset: true, headersTimeout: 10_000 });
    return await answer.body.text();
  } catch (error) {
    return String(error);
  }
}

const answers = ({ name, answer }: TestFunction, text: string, withinMs = SERVES_WITHIN_MS) =>
  eventually(
    `${name} answers`,
    () => call(name),
    (seen) => seen === answer(text),
    withinMs,
  );

const pathOf = (plural: string, ...name: string[]) =>
  [`/apis/${GROUP}/${VERSION}/namespaces/${TENANT}/${plural}`, ...name].join("/");

/** What is pushed differs from run to run: nothing of it was compiled before. */
const versionOf = (fn: TestFunction, text: string) => `${text} of ${fn.name} in ${RUN}`;

/** What each says in its newest version. */
const pushed = new Map<TestFunction, string>();

/** Pushes a version of each function to git and waits until all of them answer. */
async function deploy(fns: readonly TestFunction[], text: string): Promise<void> {
  for (const fn of fns) pushed.set(fn, versionOf(fn, text));
  await git.push(`${fns.length} say ${text}`, Object.assign({}, ...fns.map((fn) => filesOf(fn, pushed.get(fn)!))));
  await hint();
  await allAnswer(fns.some(needsJob) ? BUILT_WITHIN_MS : SERVES_WITHIN_MS);
}

const needsJob = ({ isCompiled, dependencies }: TestFunction) => isCompiled || dependencies !== undefined;

async function allAnswer(withinMs?: number): Promise<void> {
  for (const [fn, text] of pushed) await answers(fn, text, withinMs);
}

/** Names of the functions for which Jobs were made, one for each. */
async function builtByJobs(): Promise<string[]> {
  const path = apiPath(API_RESOURCES.Job, { namespace: BUILD_NAMESPACE });
  const query = { labelSelector: `${GROUP}/namespace=${TENANT}` };
  const { items } = await cluster.client.request<{ items: ApiObject[] }>({ method: "GET", path, query });
  return items.map(({ metadata }) => metadata.labels?.[`${GROUP}/name`] ?? "").sort();
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
  await deploy(FUNCTIONS, "first");
  const withJobs = FUNCTIONS.filter(needsJob).map(({ name }) => name);
  expect(await builtByJobs()).toEqual(withJobs.sort());
});

it("kubectl waits for a function as for any other object", async () => {
  const all = ["--namespace", TENANT, "functions.sless.kube5s.ru", "--all"];
  const wait = ["wait", "--for=condition=Ready", "--timeout=30s", ...all];
  expect(await kubectl(cluster.settings.kubeconfig, wait)).toContain("gopher condition met");
});

it("a push of code alone changes the answers, and only what is compiled needs a Job", async () => {
  const before = await builtByJobs();
  // Compilers take minutes, and what another module is compiled with is nothing new.
  const changed = FUNCTIONS.filter(({ isCompiled, dependencies }) => !isCompiled || !dependencies);
  await deploy(changed, "second");
  expect(await builtByJobs()).toEqual([...before, "gopher"].sort());
});

it("who may edit a namespace calls its functions through the API, and no others", async () => {
  const token = await addEditor(cluster, TENANT);
  const invoke = (namespace: string) =>
    request(`http://${api}/v1/namespaces/${namespace}/functions/snake/invoke`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
    });
  const allowed = await invoke(TENANT);
  expect([allowed.statusCode, await allowed.body.text()]).toEqual([200, versionOf(SNAKE, "second")]);
  const elsewhere = await invoke("default");
  expect([elsewhere.statusCode, await elsewhere.body.json()]).toMatchObject([
    403,
    { error: expect.stringContaining("may not create functions.sless.kube5s.ru/invoke") },
  ]);
  const env = { ...process.env, SLESS_ENDPOINT: `http://${api}`, SLESS_API_TOKEN: token, SLESS_NAMESPACE: TENANT };
  const { stdout } = await promisify(execFile)(process.execPath, [SLESS, "invoke", "snake"], { env });
  expect(stdout.trim()).toBe(versionOf(SNAKE, "second"));
});

it("the gateway's internal port answers nobody whose token is not for it", async () => {
  const url = `http://${gateway}:9091/internal/${TENANT}/functions/snake/`;
  const forTheApiServer = await addEditor(cluster, TENANT);
  for (const headers of [{}, { "x-sless-token": forTheApiServer }]) {
    const answer = await request(url, { headers });
    expect(answer.statusCode).toBe(401);
    expect(await answer.body.text()).not.toContain(RUN);
  }
});

it("functions come back when all of their pods are killed", async () => {
  await killPods(`sless-fn-${TENANT}`);
  await allAnswer();
});

it("sless comes back when its pods are killed, and goes on deploying", async () => {
  await killPods(NAMESPACE);
  await allAnswer(RECOVERS_WITHIN_MS);
  await deploy([SNAKE], "third");
});

it("all recovers when the node is drained and uncordoned", async () => {
  const run = (...args: string[]) => kubectl(cluster.settings.kubeconfig, args);
  const nodes = (await run("get", "nodes", "-o", "name")).trim().split("\n");
  {
    await using _spare = await addSpareNodes(cluster);
    for (const node of nodes)
      await run("drain", node, "--ignore-daemonsets", "--delete-emptydir-data", "--force", "--timeout=150s");
    for (const node of nodes) await run("uncordon", node);
  }
  await allAnswer(RECOVERS_WITHIN_MS);
  await deploy([SNAKE], "fourth");
});

it("an uninstalled chart leaves the objects and what serves", async () => {
  await uninstallChart(cluster);
  for (const { name } of FUNCTIONS) expect(await cluster.get(pathOf("functions", name))).toBeDefined();
  const pods = await kubectl(cluster.settings.kubeconfig, ["get", "pods", "-n", `sless-fn-${TENANT}`, "-o", "name"]);
  expect(pods.trim().split("\n").length).toBeGreaterThanOrEqual(FUNCTIONS.length);
});
