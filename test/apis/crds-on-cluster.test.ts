import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { API_VERSION, KIND_NAMES, KINDS, type Kind, type ObjectIntent } from "../../src/apis/index.ts";
import { findProgram } from "../../src/processes/index.ts";
import { clusterStore } from "../support/cluster-store.ts";
import { eventually } from "../support/eventually.ts";
import { functionIntent } from "../support/function-intent.ts";
import { describeOnOwnControlPlane } from "../support/kubernetes/index.ts";
import { installCrds } from "../support/kubernetes/prepare-cluster.ts";
import { memoryStore } from "../support/memory-store.ts";

const run = promisify(execFile);
const CRDS = join(import.meta.dirname, "../../crds");
const kubectl = findProgram("kubectl", process.env.PATH ?? "");

const REPOSITORY = { url: "https://example.com/demo.git" };
const JOB = { runtime: "python3.11" };
const HTTP = { type: "http", functionRef: "hello" };
const CRON = { type: "cron", functionRef: "hello", schedule: "* * * * *" };

interface Refused {
  readonly kind: Kind;
  readonly name?: string;
  readonly spec: object;
  /** Of the server's answer. */
  readonly says: string | RegExp;
}

/** What an API server with our CRDs refuses by itself, whoever writes it. */
const REFUSED: Record<string, Refused> = {
  "too little memory": { kind: "Function", spec: { runtime: "python3.11", memoryMB: 1 }, says: "spec.memoryMB" },
  "memory as text": { kind: "Function", spec: { runtime: "python3.11", memoryMB: "128Mi" }, says: "spec.memoryMB" },
  "no runtime": { kind: "Function", spec: {}, says: "spec.runtime" },
  "no spec": { kind: "Function", spec: undefined as unknown as object, says: "spec" },
  "a variable of sless": { kind: "Function", spec: { runtime: "a1", env: { SLESS_X: "1" } }, says: "are reserved" },
  "a variable that is none": { kind: "Service", spec: { runtime: "a1", env: { "a-b": "1" } }, says: "variable names" },
  "a variable that is a number": { kind: "Function", spec: { runtime: "a1", env: { A: 1 } }, says: "spec.env.A" },
  "a variable with a NUL": { kind: "FunctionJob", spec: { ...JOB, env: { A: "a\0b" } }, says: "no NUL character" },
  "variables that are too large together": {
    kind: "Service",
    spec: {
      runtime: "a1",
      env: Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`A${i}`, "ä".repeat(32_000)])),
    },
    says: "at most 262144 characters",
  },
  "a name twice": {
    kind: "Function",
    spec: { runtime: "a1", env: { A: "1" }, secretEnv: { A: { secret: "s", key: "k" } } },
    says: "stands in env and in secretEnv",
  },
  "a source above": { kind: "Function", spec: { runtime: "a1", sourceDir: "a/../.." }, says: "sourceDir must stay" },
  "a timeout of 0 for a function": {
    kind: "Function",
    spec: { runtime: "a1", timeoutSec: 0 },
    says: "spec.timeoutSec",
  },
  "too many replicas": { kind: "Service", spec: { runtime: "a1", replicas: 101 }, says: "spec.replicas" },
  "a field of another name": {
    kind: "Function",
    spec: { runtime: "a1", memory_mb: 128 },
    says: 'unknown field "spec.memory_mb"',
  },
  "a long name": { kind: "Function", name: "a".repeat(53), spec: { runtime: "a1" }, says: "52 characters" },
  "a name that begins with a digit": { kind: "Function", name: "1a", spec: { runtime: "a1" }, says: "DNS-1035" },
  "a job of a function and of code": {
    kind: "FunctionJob",
    spec: { ...JOB, functionRef: "a" },
    says: "either functionRef or runtime",
  },
  "a job of nothing": { kind: "FunctionJob", spec: {}, says: "either functionRef or runtime" },
  "a trigger of no type that there is": { kind: "Trigger", spec: { ...HTTP, type: "timer" }, says: "spec.type" },
  "a cron trigger without a schedule": {
    kind: "Trigger",
    spec: { type: "cron", functionRef: "a" },
    says: "needs schedule",
  },
  "an http trigger with a schedule": {
    kind: "Trigger",
    spec: { ...HTTP, schedule: "* * * * *" },
    says: "belong to triggers of type cron",
  },
  "a trigger of what has no name": {
    kind: "Trigger",
    spec: { ...HTTP, functionRef: "Hello" },
    says: "spec.functionRef",
  },
  "a repository without an address": { kind: "Repository", spec: {}, says: "spec.url" },
  "an interval that is none": { kind: "Repository", spec: { ...REPOSITORY, interval: "soon" }, says: "spec.interval" },
  "a commit that is none": {
    kind: "Repository",
    spec: { ...REPOSITORY, ref: { commit: "abc" } },
    says: "spec.ref.commit",
  },
};

/** The least of each kind, whose defaults the server fills. */
const LEAST: { readonly [K in Kind]: object } = {
  Function: { runtime: "python3.11" },
  Service: { runtime: "python3.11" },
  Trigger: CRON,
  FunctionJob: JOB,
  Repository: { ...REPOSITORY, deletionGuard: {}, writeBack: {} },
};

describeOnOwnControlPlane("the CustomResourceDefinitions", { crds: false, controllers: false }, (plane) => {
  let namespace = "";
  async function applied() {
    const args = ["--kubeconfig", plane().kubeconfig, "apply", "--server-side", "-f", CRDS];
    if (kubectl) return (await run(kubectl, args)).stdout;
    await installCrds(plane());
    return undefined;
  }
  beforeAll(async () => {
    await applied();
    namespace = await plane().createNamespace("crds");
    for (const kind of KIND_NAMES)
      await eventually(
        `${kind} is served`,
        () => plane().request("GET", pathOf(kind)),
        ({ status }) => status === 200,
      );
  });
  const pathOf = (kind: Kind) => `/apis/${API_VERSION}/namespaces/${namespace}/${KINDS[kind].plural}`;
  const post = (kind: Kind, name: string, spec: object) =>
    plane().request("POST", `${pathOf(kind)}?fieldValidation=Strict`, {
      body: { apiVersion: API_VERSION, kind, metadata: { name }, spec },
    });

  it.each(Object.entries(REFUSED))(
    "%s is refused by the server itself",
    async (_name, { kind, name = "a", spec, says }) => {
      const { status, body } = await post(kind, name, spec);
      expect([400, 422]).toContain(status);
      expect(body.message).toMatch(says);
    },
  );

  it.each(KIND_NAMES)("the defaults of a %s are those of the embedded store", async (kind) => {
    const intent = { kind, metadata: { name: "least", namespace }, spec: LEAST[kind] } as ObjectIntent;
    const { store } = clusterStore(plane());
    const onCluster = await store.apply(intent, { owner: "sync" });
    const embedded = await (await memoryStore()).apply(intent, { owner: "sync" });
    expect(onCluster.spec).toEqual(embedded.spec);
  });

  it.each(["Function", "Service"] as const)("a %s is scaled by its scale subresource", async (kind) => {
    const { store } = clusterStore(plane());
    const intent = { ...functionIntent(namespace, "scaled"), kind };
    const created = await store.create(intent, { owner: "api" });
    await store.updateStatus(created, { replicas: 1, selector: "app.kubernetes.io/name=scaled" });
    const scale = `${pathOf(kind)}/scaled/scale`;
    expect((await plane().request("GET", scale)).body).toMatchObject({
      spec: { replicas: 1 },
      status: { replicas: 1, selector: "app.kubernetes.io/name=scaled" },
    });
    const body = { spec: { replicas: 4 } };
    await plane().request("PATCH", scale, { contentType: "application/merge-patch+json", body });
    expect((await store.get(kind, { namespace, name: "scaled" }))?.spec.replicas).toBe(4);
  });

  it("a write of the object leaves the status, and a write of the status the object", async () => {
    const { body } = await post("Function", "apart", { runtime: "a1" });
    const path = `${pathOf("Function")}/apart`;
    const both = { ...body, spec: { runtime: "b2" }, status: { phase: "Ready" } };
    expect((await plane().request("PUT", path, { body: both })).body.status).toEqual({ observedGeneration: -1 });
    const { body: now } = await plane().request("GET", path);
    const status = { ...now, spec: { runtime: "c3" }, status: { phase: "Ready" } };
    expect((await plane().request("PUT", `${path}/status`, { body: status })).body).toMatchObject({
      spec: { runtime: "b2" },
      status: { phase: "Ready" },
    });
  });

  describe.skipIf(!kubectl)(kubectl ? "with kubectl" : "with kubectl (skipped: it is not on this machine)", () => {
    const told = async (...args: string[]) =>
      (await run(kubectl!, ["--kubeconfig", plane().kubeconfig, "-n", namespace, ...args])).stdout;

    it("are applied by the server, and a second time without a change", async () => {
      const lines = (await applied())!.trim().split("\n");
      expect(lines).toEqual(
        KIND_NAMES.map((kind) => KINDS[kind].plural)
          .sort()
          .map(
            (plural) => `customresourcedefinition.apiextensions.k8s.io/${plural}.sless.kube5s.ru serverside-applied`,
          ),
      );
    });

    const shown: Record<string, { args: string[]; columns: string[]; row: string[] }> = {
      "functions by their short name": {
        args: ["get", "fn", "shown", "-o", "wide"],
        columns: ["NAME", "RUNTIME", "PHASE", "READY", "REVISION", "URL", "AGE"],
        row: ["shown", "python3.11", "Ready", "True", "main@sha1:abc", "http://x/fn"],
      },
      "triggers by their short name": {
        args: ["get", "trg", "shown"],
        columns: ["NAME", "TYPE", "FUNCTION", "AGE"],
        row: ["shown", "http", "hello"],
      },
      "repositories by their short name": {
        args: ["get", "repo", "shown"],
        columns: ["NAME", "URL", "AGE"],
        row: ["shown", "https://example.com/demo.git"],
      },
    };
    it.each(Object.entries(shown))("shows %s with columns", async (_name, { args, columns, row }) => {
      const { store } = clusterStore(plane());
      const conditions = [
        {
          type: "Ready",
          status: "True" as const,
          reason: "Ready",
          message: "",
          lastTransitionTime: "2026-01-01T00:00:00Z",
        },
      ];
      const metadata = { annotations: { "sless.kube5s.ru/revision": "main@sha1:abc" } };
      const made = await store.apply(functionIntent(namespace, "shown", { metadata }), { owner: "sync" });
      await store.updateStatus(made, { phase: "Ready", url: "http://x/fn", conditions });
      const key = { name: "shown", namespace };
      await store.apply({ kind: "Trigger", metadata: key, spec: HTTP } as ObjectIntent, { owner: "sync" });
      await store.apply({ kind: "Repository", metadata: key, spec: REPOSITORY }, { owner: "api" });
      const [head = "", line = ""] = (await told(...args)).trim().split("\n");
      expect(head.split(/\s{2,}/)).toEqual(expect.arrayContaining(columns));
      for (const cell of row) expect(line).toContain(cell);
    });

    it("lists all kinds by their category, and refuses what is not valid before it is sent", async () => {
      expect(await told("get", "sless", "-o", "name")).toContain("function.sless.kube5s.ru/shown");
      const patch = JSON.stringify({ spec: { memoryMB: 1 } });
      const refused = told("patch", "fn", "shown", "--type=merge", "-p", patch);
      await expect(refused).rejects.toThrow("spec.memoryMB in body should be greater than or equal to 32");
    });

    it("scales a function", async () => {
      await told("scale", "fn", "shown", "--replicas=3");
      expect(await told("get", "fn", "shown", "-o", "jsonpath={.spec.replicas}")).toBe("3");
    });
  });
});
