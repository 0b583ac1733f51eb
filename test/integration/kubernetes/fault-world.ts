import { join } from "node:path";
import { readArchive } from "../../../src/source/index.ts";
import { openFilesystemStore } from "../../../src/storage/filesystem/index.ts";
import { eventually } from "../../support/eventually.ts";
import { document, functionYaml, handler, triggerYaml } from "../../support/function-files.ts";
import { gitHttpServer } from "../../support/git-http-server.ts";
import { type Files, type GitRepository, gitRepository } from "../../support/git-repository.ts";
import type { ApiAnswer, TestCluster } from "../../support/kubernetes/index.ts";

export const GROUP = "/apis/sless.kube5s.ru/v1alpha1";
const REPOSITORY = "code";

/** A function as the repository wants it. */
export interface Wanted {
  /** What its code answers. */
  readonly text: string;
  readonly memoryMB?: number;
  readonly env?: Readonly<Record<string, string>>;
}

// biome-ignore lint/suspicious/noExplicitAny: tests read what they asked for
export type Live = any;

/** What stands on the cluster of one tenant. */
export interface Standing {
  readonly repository: Live;
  readonly functions: Live[];
  readonly triggers: Live[];
  readonly deployments: Live[];
  readonly services: Live[];
}

/** A namespace that follows a repository of its own. */
export interface Tenant {
  readonly namespace: string;
  readonly repository: GitRepository;
  /** What the repository wants now. */
  readonly wanted: ReadonlyMap<string, Wanted>;
  /** Commits what becomes of functions; null deletes one. Other files as they are. Nobody is told. */
  commit(changes: Readonly<Record<string, Wanted | null>>, files?: Files): Promise<string>;
  /** The same, and has sless look at it. */
  push(changes: Readonly<Record<string, Wanted | null>>, files?: Files): Promise<string>;
  /** Makes the Repository object anew, as `kubectl apply` would. */
  applyRepository(): Promise<void>;
  hint(): Promise<void>;
  standing(): Promise<Standing>;
  /** Waits until the cluster is as the last commit wants it, all of it serving. */
  converged(): Promise<Standing>;
}

export interface TenantOptions {
  /** Of the Repository, beside url. */
  readonly spec?: Readonly<Record<string, unknown>>;
  /** Beside the functions. */
  readonly files?: Files;
}

/** @param functions what its first commit holds */
export async function tenantOf(
  cluster: TestCluster,
  functions: Readonly<Record<string, Wanted>>,
  { spec = {}, files = {} }: TenantOptions = {},
): Promise<Tenant> {
  const namespace = await cluster.createNamespace("team");
  const wanted = new Map(Object.entries(functions));
  const repository = await gitRepository({ ...filesOf(functions), ...files }, { bare: true });
  const { url } = await gitHttpServer(repository.dir);
  let head = repository.head;
  const repositories = `${GROUP}/namespaces/${namespace}/repositories`;

  const tenant: Tenant = {
    namespace,
    repository,
    wanted,
    async commit(changes, others = {}) {
      for (const [name, change] of Object.entries(changes)) {
        if (change) wanted.set(name, change);
        else wanted.delete(name);
      }
      head = await repository.commit(`change ${Object.keys(changes)}`, { ...filesOf(changes), ...others });
      return head;
    },
    async push(changes, others) {
      await tenant.commit(changes, others);
      await tenant.hint();
      return head;
    },
    async applyRepository() {
      const body = {
        apiVersion: "sless.kube5s.ru/v1alpha1",
        kind: "Repository",
        metadata: { name: REPOSITORY },
        spec: { url, interval: "1h", ...spec },
      };
      // Kinds that were applied a moment ago may not be served yet.
      await eventually(
        "the Repository is taken",
        () => cluster.request("PATCH", `${repositories}/${REPOSITORY}?fieldManager=kubectl`, { body }),
        ({ status }) => status < 300,
      );
    },
    async hint() {
      const requestedAt = new Date().toISOString();
      await done(
        cluster.request("PATCH", `${repositories}/${REPOSITORY}`, {
          body: { metadata: { annotations: { "sless.kube5s.ru/requestedAt": requestedAt } } },
          contentType: "application/merge-patch+json",
        }),
      );
    },
    standing: () => standingOf(cluster, namespace),
    async converged() {
      const look = async () => {
        const standing = await tenant.standing();
        return { faults: differences(standing, wanted, head), standing };
      };
      let last = await look();
      await eventually(
        `${namespace} is as ${head} wants it`,
        async () => {
          last = await look();
          return last.faults;
        },
        (faults) => faults.length === 0,
      );
      return last.standing;
    },
  };
  await tenant.applyRepository();
  return tenant;
}

/** @throws Error with the answer, unless it is a success */
export async function done(request: Promise<ApiAnswer>): Promise<Live> {
  const { status, body } = await request;
  if (status >= 300) throw new Error(`${status}: ${JSON.stringify(body)}`);
  return body;
}

/** `count` functions that nothing distinguishes but their names. */
export function many(count: number, text = "one", prefix = "f"): Record<string, Wanted> {
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [`${prefix}${n}`, { text: `${text} ${n}` }]));
}

/** UID and generation of each: what was made anew, or written again, has others. */
export function lives(objects: readonly Live[]): Record<string, string> {
  return Object.fromEntries(objects.map(({ metadata: { name, uid, generation } }) => [name, `${uid} ${generation}`]));
}

/** The handler of every function, read from the archive that its object names below the data folder. */
export async function storedTexts(data: string, { functions }: Standing): Promise<Record<string, string>> {
  const store = await openFilesystemStore(join(data, "objects"));
  const texts = functions.map(async ({ metadata, spec }) => {
    const archive = await store.get(spec.s3Key);
    const files = archive ? await readArchive(archive) : [];
    const file = files.find(({ path }) => path === "handler.py");
    return [metadata.name, file ? Buffer.from(file.content).toString() : "no archive"] as const;
  });
  return Object.fromEntries(await Promise.all(texts));
}

/** What `storedTexts` gives when nothing is lost. */
export function wantedTexts({ wanted }: Tenant): Record<string, string> {
  return Object.fromEntries([...wanted].map(([name, { text }]) => [name, handler(text)]));
}

function filesOf(changes: Readonly<Record<string, Wanted | null>>): Files {
  return Object.assign(
    {},
    ...Object.entries(changes).map(([name, change]) => ({
      [`functions/${name}/function.yaml`]: change && manifestOf(name, change),
      [`functions/${name}/handler.py`]: change && handler(change.text),
    })),
  );
}

function manifestOf(name: string, { memoryMB = 128, env = {} }: Wanted): string {
  return functionYaml(name, { memoryMB, env }) + triggerYaml(`${name}-http`, name);
}

/** A FunctionJob that runs once. */
export function jobFiles(name: string, runID = 1): Files {
  return {
    [`jobs/${name}/job.yaml`]: document("FunctionJob", name, { runtime: "python3.11", runID }),
    [`jobs/${name}/handler.py`]: handler(name),
  };
}

async function standingOf(cluster: TestCluster, namespace: string): Promise<Standing> {
  const items = async (path: string): Promise<Live[]> => {
    const { status, body } = await cluster.request("GET", path);
    return status === 200 ? body.items : [];
  };
  const ours = (plural: string) => items(`${GROUP}/namespaces/${namespace}/${plural}`);
  const [repositories, functions, triggers, deployments, services] = await Promise.all([
    ours("repositories"),
    ours("functions"),
    ours("triggers"),
    items(`/apis/apps/v1/namespaces/sless-fn-${namespace}/deployments`),
    items(`/api/v1/namespaces/sless-fn-${namespace}/services`),
  ]);
  return {
    repository: repositories![0],
    functions: functions!,
    triggers: triggers!,
    deployments,
    services,
  } as Standing;
}

/** In what the cluster is not yet as the repository wants it. */
function differences(standing: Standing, wanted: ReadonlyMap<string, Wanted>, head: string): string[] {
  const { repository, functions, triggers, deployments, services } = standing;
  const names = [...wanted.keys()].sort();
  const faults: string[] = [];
  const expectNames = (what: string, objects: readonly Live[], expected: readonly string[]) => {
    const seen = objects.map(({ metadata }) => metadata.name).sort();
    const missing = expected.filter((name) => !seen.includes(name));
    const left = seen.filter((name) => !expected.includes(name));
    if (missing.length + left.length > 0) faults.push(`${what}: missing ${missing}; left over ${left}`);
  };
  const applied = repository?.status?.lastAppliedRevision;
  if (applied !== `main@sha1:${head}`) faults.push(`applied is ${applied}`);
  if (!isTrue(repository, "Ready")) faults.push(`Repository: ${JSON.stringify(repository?.status?.conditions)}`);
  expectNames("functions", functions, names);
  expectNames(
    "triggers",
    triggers.filter(({ spec }) => spec.type === "http"),
    names.map((name) => `${name}-http`).sort(),
  );
  expectNames("deployments", deployments, names);
  expectNames("services", services, names);
  for (const object of functions) faults.push(...functionFaults(object, wanted, deployments));
  return faults;
}

function functionFaults(object: Live, wanted: ReadonlyMap<string, Wanted>, deployments: readonly Live[]): string[] {
  const { metadata, spec, status } = object;
  const { name } = metadata;
  const { memoryMB = 128, env = {} } = wanted.get(name) ?? {};
  const deployment = deployments.find((one) => one.metadata.name === name);
  const [container] = deployment?.spec.template.spec.containers ?? [];
  const checks: Record<string, boolean> = {
    memory: spec.memoryMB === memoryMB && container?.resources.limits.memory === `${memoryMB}Mi`,
    env: Object.entries(env).every(
      ([key, value]) =>
        spec.env?.[key] === value && container?.env.some((one: Live) => one.name === key && one.value === value),
    ),
    ready: isTrue(object, "Ready") && status.observedGeneration === metadata.generation,
    image: status?.imageRef !== undefined && container?.image === status.imageRef,
    pods: deployment?.status.readyReplicas === 1 && deployment.status.updatedReplicas === 1,
  };
  return Object.entries(checks).flatMap(([what, holds]) => (holds ? [] : [`${name}: ${what}`]));
}

export function isTrue(object: Live, type: string): boolean {
  return conditionOf(object, type)?.status === "True";
}

export function conditionOf(object: Live, type: string): Live {
  return object?.status?.conditions?.find((one: Live) => one.type === type);
}
