// Brings "helm", "kubectl", "kwok" and, where this machine is the cluster's node, "network-policies".
import { randomBytes } from "node:crypto";
import { request } from "undici";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ApiObject } from "../../src/kubernetes/index.ts";
import { eventually } from "../support/eventually.ts";
import { kubectl } from "../support/kubectl.ts";
import { tagRunImage } from "./base-images.ts";
import type { BuiltImage } from "./build-image.ts";
import { callMeanwhile } from "./calls-meanwhile.ts";
import { installChart, NAMESPACE, uninstallChart } from "./chart-release.ts";
import {
  below,
  filesOf,
  LONG_JOB_FILES,
  LONG_RESULT,
  MOTH,
  type TestFunction,
  TICKER_FILES,
  testFunctions,
  without,
} from "./function-texts.ts";
import {
  allAnswer,
  announce,
  answers,
  builtByJobs,
  call,
  deliver,
  deploy,
  type InstalledSless,
  needsJob,
  runSless,
  slessPath,
  useInstalled,
  versionOf,
} from "./installed-sless.ts";
import { checkIsolation } from "./isolation.ts";
import { killPods, RECOVERS_WITHIN_MS } from "./kill-pods.ts";
import { makeOlderChart } from "./older-chart.ts";
import { type E2eCluster, openCluster } from "./open-cluster.ts";
import { PROBER_FILES } from "./probe.ts";
import { readE2eSettings } from "./settings.ts";
import { buildSlessImage } from "./sless-image.ts";
import { addSpareNodes } from "./spare-nodes.ts";
import { addCollector, addEditor, applyRepository, removeTenant } from "./tenants.ts";

const RUN = randomBytes(3).toString("hex");
const BUILDS = "sless-e2e-builds";
const TENANT = `e2e-${RUN}`;
const OTHER_TENANT = `e2e-${RUN}-other`;
const FUNCTIONS = testFunctions(RUN);
const [SNAKE, , GOPHER] = FUNCTIONS as [TestFunction, TestFunction, TestFunction];
/** Of the repository, which the other tenant deploys too. */
const SHARED = ["snake-with-idna", "gopher-with-xxhash", "prober"];

let cluster: E2eCluster;
let image: BuiltImage;
let sless: InstalledSless;
let editor: string;

const run = (...args: string[]) => kubectl(cluster.settings.kubeconfig, args);

beforeAll(async () => {
  cluster = await openCluster(readE2eSettings(process.env));
  await cluster.apply("Namespace", {
    metadata: { name: BUILDS, labels: { "pod-security.kubernetes.io/enforce": "baseline" } },
  });
  [image] = await Promise.all([buildSlessImage(cluster, BUILDS), tagRunImage(cluster)]);
  await using older = await makeOlderChart(cluster);
  await installChart(cluster, image, { chart: older.folder });
  sless = await useInstalled(cluster, RUN);
  for (const name of [TENANT, OTHER_TENANT]) await cluster.apply("Namespace", { metadata: { name } });
  editor = await addEditor(cluster, TENANT);
});

afterAll(async () => {
  if (sless) for (const tenant of [TENANT, OTHER_TENANT]) await removeTenant(cluster, tenant, slessPath);
  await sless?.git[Symbol.asyncDispose]();
  await cluster?.[Symbol.asyncDispose]();
});

it("a repository of functions in three languages is deployed by a push, and all answer", async () => {
  await sless.git.push("nothing yet", { "README.md": "Functions of the end-to-end tests.\n" });
  await applyRepository(sless, TENANT, { name: "functions", webhookToken: sless.hookToken });
  await deploy(sless, [...FUNCTIONS, MOTH], "first", {
    ...below("prober", PROBER_FILES),
    ...below("ticker", TICKER_FILES),
    ...below("long", LONG_JOB_FILES),
  });
  const withJobs = FUNCTIONS.filter(needsJob).map(({ name }) => name);
  expect(await builtByJobs(sless)).toEqual(withJobs.sort());
});

it("only who knows the repository's secret has it looked at", async () => {
  const { status, answer } = await deliver(sless, "another-token");
  expect([status, answer]).toEqual([401, expect.stringContaining("hook_refused")]);
});

it("kubectl waits for a function as for any other object", async () => {
  const all = ["--namespace", TENANT, "functions.sless.kube5s.ru", "--all"];
  expect(await run("wait", "--for=condition=Ready", "--timeout=30s", ...all)).toContain("gopher condition met");
});

it("what was built for one namespace is not built for another", async () => {
  const before = await builtByJobs(sless);
  for (const path of SHARED) await applyRepository(sless, OTHER_TENANT, { name: path, path });
  for (const fn of [...sless.pushed.keys()].filter(({ name }) => SHARED.includes(name)))
    await eventually(
      `${fn.name} answers there`,
      () => call(sless, fn.name, { namespace: OTHER_TENANT }),
      (seen) => seen === fn.answer(sless.pushed.get(fn)!),
      60_000,
    );
  await run("wait", "--for=condition=Ready", "--timeout=60s", "--namespace", OTHER_TENANT, "functions", "--all");
  expect(await builtByJobs(sless, OTHER_TENANT)).toEqual([]);
  expect(await builtByJobs(sless)).toEqual(before);
});

// What these wait for comes by itself.
describe.concurrent("meanwhile", () => {
  it("functions and builds reach what they shall, and nobody but the gateway reaches a function", async ({
    annotate,
  }) => checkIsolation(sless, OTHER_TENANT, annotate));

  it("a cron trigger calls its function every minute", async () => {
    const logs = () => run("logs", "--namespace", `sless-fn-${TENANT}`, "--selector=sless.kube5s.ru/name=ticker");
    await eventually("it is called", logs, (log) => log.includes("ticked cron"), 100_000);
    const trigger = slessPath(TENANT, "triggers", "every-minute");
    type Cron = ApiObject & { status?: { lastScheduleTime?: string } };
    const { status } = (await cluster.get<Cron>(trigger))!;
    expect(status?.lastScheduleTime).toMatch(/:00Z$/);
  });

  it("a job's result that is too long for the status of its pod is told whole", async () => {
    type Job = ApiObject & { status?: { phase?: string; message?: string } };
    const job = await eventually(
      "it has run",
      () => cluster.get<Job>(slessPath(TENANT, "functionjobs", "long")),
      (seen) => ["Succeeded", "Failed"].includes(seen?.status?.phase ?? ""),
      60_000,
    );
    expect(job!.status).toMatchObject({ phase: "Succeeded", message: LONG_RESULT });
  });
});

it("a push of code alone changes the answers, and only what is compiled needs a Job", async () => {
  const before = await builtByJobs(sless);
  // Compilers take minutes, and what another module is compiled with is nothing new.
  const changed = FUNCTIONS.filter(({ isCompiled, dependencies }) => !isCompiled || !dependencies);
  await deploy(sless, changed, "second");
  expect(await builtByJobs(sless)).toEqual([...before, "gopher"].sort());
});

interface FunctionObject extends ApiObject {
  readonly spec: { readonly s3Key: string };
  readonly status: { readonly imageRef: string };
}

const functionNamed = async ({ name }: TestFunction) =>
  (await cluster.get<FunctionObject>(slessPath(TENANT, "functions", name)))!;

/** Whether the archive of its source and its image are still there. */
async function isKept({ spec, status }: FunctionObject): Promise<{ source: boolean; image: boolean }> {
  const [repository = "", digest = ""] = status.imageRef.slice(`${cluster.settings.registryHost}/`.length).split("@");
  return {
    source: await cluster.objects.has(spec.s3Key),
    image: (await cluster.registry.manifestDigest(repository, digest)) !== undefined,
  };
}

it("what a deleted function leaves behind is collected, and nothing that serves or served", async () => {
  const moth = await functionNamed(MOTH);
  expect(await isKept(moth)).toEqual({ source: true, image: true });
  sless.pushed.delete(MOTH);
  await deploy(sless, [], "all the same", without(filesOf(MOTH, "")));
  await eventually(
    "it is gone",
    () => cluster.get(slessPath(TENANT, "functions", MOTH.name)),
    (seen) => !seen,
  );
  const collector = await addCollector(cluster, TENANT);
  // What is unused is marked first, and goes after its grace time.
  await eventually(
    "its source and its image are gone",
    async () => [await runSless(sless, collector, "gc", "-o", "wide"), await isKept(moth)] as const,
    ([, kept]) => !kept.source && !kept.image,
    60_000,
  );
  for (const fn of FUNCTIONS)
    expect([fn.name, await isKept(await functionNamed(fn))]).toMatchObject([fn.name, { source: true, image: true }]);
  await allAnswer(sless);
});

it.each([
  ["appended", () => SNAKE],
  ["compiled", () => GOPHER],
])("a function whose image is %s goes back to what it was, and nothing is built", async (_how, fnOf) => {
  const fn = fnOf();
  const before = await builtByJobs(sless);
  const history = async () => JSON.parse(await runSless(sless, editor, "history", fn.name, "-o", "json")).items;
  const [second, first] = await history();
  expect([second, first]).toMatchObject([
    { source_present: true, image_present: true },
    { source_present: true, image_present: true },
  ]);
  await runSless(sless, editor, "rollback", fn.name, "--repo", sless.git.checkout);
  await sless.git.pushCommits();
  sless.pushed.set(fn, versionOf(sless, fn, "first"));
  await announce(sless);
  await answers(sless, fn, versionOf(sless, fn, "first"));
  await eventually(
    "it serves the image of then",
    () => functionNamed(fn),
    ({ status }) => status.imageRef === first.image_ref,
  );
  expect(await builtByJobs(sless)).toEqual(before);
  await allAnswer(sless);
});

it("no call is lost while the chart is upgraded, and its CRDs come along", async ({ annotate }) => {
  const isShort = async () =>
    (await run("api-resources", "--api-group=sless.kube5s.ru"))
      .split("\n")
      .some((line) => /^functions +fn /.test(line));
  expect(await isShort()).toBe(false);
  const gateways = async () =>
    (await run("get", "pods", "--namespace", NAMESPACE, "--output=name"))
      .split("\n")
      .filter((pod) => pod.includes("gateway"));
  const before = await gateways();
  const { count, wrong } = await callMeanwhile(
    () => call(sless, "hexagon"),
    versionOf(sless, FUNCTIONS[1]!, "second"),
    () => installChart(cluster, image, { logLevel: "info" }),
  );
  await annotate(`${count} calls`);
  expect(wrong).toEqual([]);
  await eventually("its gateways are others", gateways, (pods) => !pods.some((pod) => before.includes(pod)), 60_000);
  await eventually("the CRD is the chart's", isShort, Boolean);
  await deploy(sless, [SNAKE], "third");
});

it("who may edit a namespace calls its functions through the API, and no others", async () => {
  const invoke = (namespace: string) =>
    request(`http://${sless.api}/v1/namespaces/${namespace}/functions/snake/invoke`, {
      method: "POST",
      headers: { authorization: `Bearer ${editor}` },
    });
  const allowed = await invoke(TENANT);
  expect([allowed.statusCode, await allowed.body.text()]).toEqual([200, sless.pushed.get(SNAKE)]);
  const elsewhere = await invoke("default");
  expect([elsewhere.statusCode, await elsewhere.body.json()]).toMatchObject([
    403,
    { error: expect.stringContaining("may not create functions.sless.kube5s.ru/invoke") },
  ]);
  expect((await runSless(sless, editor, "invoke", "snake")).trim()).toBe(sless.pushed.get(SNAKE));
});

it("the gateway's internal port answers nobody whose token is not for it", async () => {
  const url = `http://${sless.gateway}:9091/internal/${TENANT}/functions/snake/`;
  for (const headers of [{}, { "x-sless-token": editor }]) {
    const answer = await request(url, { headers });
    expect(answer.statusCode).toBe(401);
    expect(await answer.body.text()).not.toContain(RUN);
  }
});

it("functions come back when all of their pods are killed", async () => {
  await killPods(cluster, `sless-fn-${TENANT}`);
  await allAnswer(sless);
});

it("sless comes back when its pods are killed, and goes on deploying", async () => {
  await killPods(cluster, NAMESPACE);
  await allAnswer(sless, RECOVERS_WITHIN_MS);
  await deploy(sless, [SNAKE], "fourth");
});

it("all recovers when the node is drained and uncordoned", async () => {
  const nodes = (await run("get", "nodes", "-o", "name")).trim().split("\n");
  {
    await using _spare = await addSpareNodes(cluster);
    for (const node of nodes)
      await run("drain", node, "--ignore-daemonsets", "--delete-emptydir-data", "--force", "--timeout=150s");
    for (const node of nodes) await run("uncordon", node);
  }
  await allAnswer(sless, RECOVERS_WITHIN_MS);
  await deploy(sless, [SNAKE], "fifth");
});

it("an uninstalled chart leaves the objects and what serves", async () => {
  await uninstallChart(cluster);
  for (const { name } of FUNCTIONS) expect(await cluster.get(slessPath(TENANT, "functions", name))).toBeDefined();
  const pods = await run("get", "pods", "-n", `sless-fn-${TENANT}`, "-o", "name");
  expect(pods.trim().split("\n").length).toBeGreaterThanOrEqual(FUNCTIONS.length);
});
