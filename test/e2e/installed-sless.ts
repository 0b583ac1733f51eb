import { execFile } from "node:child_process";
import { createHmac } from "node:crypto";
import { join } from "node:path";
import { promisify } from "node:util";
import { request } from "undici";
import { GROUP, VERSION } from "../../src/apis/index.ts";
import { API_RESOURCES, type ApiObject, apiPath } from "../../src/kubernetes/index.ts";
import { eventually } from "../support/eventually.ts";
import { isolatedGitEnvironment } from "../support/git-repository.ts";
import { BUILD_NAMESPACE, NAMESPACE } from "./chart-release.ts";
import { filesOf, type TestFunction } from "./function-texts.ts";
import { type GitServer, startGitServer } from "./git-server.ts";
import type { E2eCluster } from "./open-cluster.ts";

const SLESS = join(import.meta.dirname, "../../bin/sless.js");
/** Of a version whose image is appended. */
const SERVES_WITHIN_MS = 60_000;
/** Of versions that Jobs build, as many as there are functions. */
const BUILT_WITHIN_MS = 400_000;

/** sless as the chart installs it, with a user's namespace whose functions come from a git server. */
export interface InstalledSless {
  readonly cluster: E2eCluster;
  /** Tells this run of the tests from others, in all that is pushed: nothing of it was compiled before. */
  readonly run: string;
  readonly git: GitServer;
  /** The user's namespace. */
  readonly tenant: string;
  /** Addresses of Services. */
  readonly gateway: string;
  readonly api: string;
  /** Answers the forge's deliveries for the Repository `functions`. */
  readonly hookToken: string;
  /** What each function says in its newest version. */
  readonly pushed: Map<TestFunction, string>;
}

export async function useInstalled(cluster: E2eCluster, run: string): Promise<InstalledSless> {
  const addressOf = async (name: string) => {
    const path = apiPath(API_RESOURCES.Service, { namespace: NAMESPACE, name });
    return (await cluster.get<ApiObject & { spec: { clusterIP: string } }>(path))!.spec.clusterIP;
  };
  return {
    cluster,
    run,
    git: await startGitServer(cluster.settings.hostAddress),
    tenant: `e2e-${run}`,
    gateway: await addressOf("sless-gateway"),
    api: await addressOf("sless-api"),
    hookToken: `hook-token-${run}`,
    pushed: new Map(),
  };
}

/** Path of an object of sless, or of all of a kind. */
export function slessPath(namespace: string, plural: string, ...name: string[]): string {
  return [`/apis/${GROUP}/${VERSION}/namespaces/${namespace}/${plural}`, ...name].join("/");
}

/** What the gateway's Service answers: the body, or what is wrong. */
export async function call(sless: InstalledSless, name: string, { namespace = sless.tenant, event = {} } = {}) {
  try {
    // Each call on a connection of its own: one that is kept stays with the pod that it was made to.
    const options = { method: "POST", reset: true, headersTimeout: 15_000, bodyTimeout: 15_000 } as const;
    const headers = { "content-type": "application/json" };
    const url = `http://${sless.gateway}/fn/${namespace}/${name}`;
    const answer = await request(url, { ...options, headers, body: JSON.stringify(event) });
    return await answer.body.text();
  } catch (error) {
    return String(error);
  }
}

export const versionOf = ({ run }: InstalledSless, fn: TestFunction, text: string) => `${text} of ${fn.name} in ${run}`;

export const needsJob = ({ isCompiled, dependencies }: TestFunction) => isCompiled || dependencies !== undefined;

/** Pushes a version of each function to git, and waits until all functions say what was pushed last. */
export async function deploy(
  sless: InstalledSless,
  fns: readonly TestFunction[],
  text: string,
  more: Readonly<Record<string, string | null>> = {},
): Promise<void> {
  for (const fn of fns) sless.pushed.set(fn, versionOf(sless, fn, text));
  const files = fns.map((fn) => filesOf(fn, sless.pushed.get(fn)!));
  await sless.git.push(`${fns.length} say ${text}`, Object.assign({}, ...files, more));
  await announce(sless);
  await allAnswer(sless, fns.some(needsJob) ? BUILT_WITHIN_MS : SERVES_WITHIN_MS);
}

export async function allAnswer(sless: InstalledSless, withinMs = SERVES_WITHIN_MS): Promise<void> {
  for (const [fn, version] of sless.pushed) await answers(sless, fn, version, withinMs);
}

export function answers(sless: InstalledSless, fn: TestFunction, version: string, withinMs = SERVES_WITHIN_MS) {
  const isRight = (seen: string) => seen === fn.answer(version);
  return eventually(`${fn.name} answers`, () => call(sless, fn.name), isRight, withinMs);
}

/** What GitHub does after a push. The API may be between two pods. */
export async function announce(sless: InstalledSless): Promise<void> {
  await eventually(
    "the delivery is taken",
    () => deliver(sless, sless.hookToken),
    ({ status }) => status === 202,
  );
}

export async function deliver(sless: InstalledSless, token: string): Promise<{ status: number; answer: string }> {
  const body = JSON.stringify({ ref: "refs/heads/main" });
  const signature = createHmac("sha256", token).update(body).digest("hex");
  const headers = {
    "content-type": "application/json",
    "x-github-event": "push",
    "x-hub-signature-256": `sha256=${signature}`,
  };
  try {
    const url = `http://${sless.api}/hooks/${sless.tenant}/functions`;
    const answer = await request(url, { method: "POST", reset: true, headersTimeout: 10_000, headers, body });
    return { status: answer.statusCode, answer: await answer.body.text() };
  } catch (error) {
    return { status: 0, answer: String(error) };
  }
}

/** Names of the functions for which Jobs were made, one for each. */
export async function builtByJobs({ cluster, tenant }: InstalledSless, namespace = tenant): Promise<string[]> {
  const path = apiPath(API_RESOURCES.Job, { namespace: BUILD_NAMESPACE });
  const query = { labelSelector: `${GROUP}/namespace=${namespace}` };
  const { items } = await cluster.client.request<{ items: ApiObject[] }>({ method: "GET", path, query });
  return items.map(({ metadata }) => metadata.labels?.[`${GROUP}/name`] ?? "").sort();
}

/** Runs the command line against the API with a token; what it printed. */
export async function runSless(sless: InstalledSless, token: string, ...args: string[]): Promise<string> {
  const { api, tenant } = sless;
  const env = {
    ...isolatedGitEnvironment("/nonexistent"),
    SLESS_ENDPOINT: `http://${api}`,
    SLESS_API_TOKEN: token,
    SLESS_NAMESPACE: tenant,
  };
  return (await promisify(execFile)(process.execPath, [SLESS, ...args], { env })).stdout;
}
