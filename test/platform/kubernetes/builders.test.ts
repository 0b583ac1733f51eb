import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import type { JobRun, WorkloadSpec } from "../../../src/platform/index.ts";
import { deploymentOf } from "../../../src/platform/kubernetes/deployment.ts";
import { jobOf } from "../../../src/platform/kubernetes/job.ts";
import type { Manifest } from "../../../src/platform/kubernetes/manifest.ts";
import { jobNameOf } from "../../../src/platform/kubernetes/names.ts";
import type { BuildContext } from "../../../src/platform/kubernetes/pod-spec.ts";
import { envSecretOf, registrySecretOf, runSecretOf } from "../../../src/platform/kubernetes/secrets.ts";
import { serviceOf } from "../../../src/platform/kubernetes/service.ts";
import { DEFAULT_SETTINGS } from "../../../src/platform/kubernetes/settings.ts";
import { wantedChildren } from "../../../src/platform/kubernetes/wanted-children.ts";

const workload = { kind: "Function", namespace: "demo", name: "hello" } as const;
const spec: WorkloadSpec = {
  workload,
  imageRef: `registry.example.com/sless-demo_hello@sha256:${"a".repeat(64)}`,
  sourceDigest: "d1",
  entrypoint: "handler.handle",
  memoryMB: 128,
  timeoutSec: 30,
  env: { GREETING: "Hello", COST: "$(PRICE) $5 $$" },
  secretEnv: { TOKEN: { secret: "api", key: "token" } },
};
const context: BuildContext = {
  settings: DEFAULT_SETTINGS,
  envSecret: "hello-env-0123456789",
  pullSecret: "sless-registry",
};
const job: JobRun = {
  spec: { ...spec, workload: { ...workload, kind: "FunctionJob", name: "report" } },
  runID: 3,
  eventJSON: '{"day":"monday"}',
};
const values = { TOKEN: Buffer.from("t0ken").toString("base64") };
const config = Buffer.from(
  JSON.stringify({
    auths: { "https://registry.example.com/v1/": { auth: "cHVsbDpvbmx5" }, "other.example.com": { auth: "c2VjcmV0" } },
    credHelpers: { "gcr.io": "gcloud" },
  }),
).toString("base64");

describe("children as they are written", () => {
  it.each<[string, Manifest | undefined]>([
    ["deployment", deploymentOf(spec, 2, context)],
    ["service", serviceOf(workload)],
    ["job", jobOf(job, { ...context, envSecret: "report-3-input" })],
    ["env-secret", envSecretOf(workload, values)],
    ["run-secret", runSecretOf(job.spec.workload, "report-3", values, job.eventJSON)],
    ["registry-secret", registrySecretOf("sless-fn-demo", "registry.example.com", config)],
  ])("%s", async (name, manifest) => {
    const text = stringify(manifest, { lineWidth: 0, aliasDuplicateObjects: false });
    await expect(text).toMatchFileSnapshot(`../../fixtures/kubernetes/${name}.yaml`);
  });
});

const templateOf = (of: WorkloadSpec, replicas: number, from = context) =>
  deploymentOf(of, replicas, from).spec.template;

describe("what rolls pods", () => {
  const other = { ...values, TOKEN: Buffer.from("other").toString("base64") };
  const envSecret = (data: Record<string, string>) => envSecretOf(workload, data).metadata.name;
  it.each<[string, Partial<WorkloadSpec>]>([
    ["an image", { imageRef: `registry.example.com/sless-demo_hello@sha256:${"b".repeat(64)}` }],
    ["memory", { memoryMB: 256 }],
    ["an entry point", { entrypoint: "other.run" }],
    ["a time limit", { timeoutSec: 0 }],
    ["a variable", { env: { ...spec.env, GREETING: "Hi" } }],
    ["a variable less", { env: {} }],
    ["a secret less", { secretEnv: {} }],
  ])("%s does", (_, change) => {
    expect(templateOf({ ...spec, ...change }, 2)).not.toEqual(templateOf(spec, 2));
  });

  it("contents of a secret do, and equal contents do not", () => {
    expect(envSecret(other)).not.toBe(envSecret(values));
    expect(envSecret({ ...values })).toBe(envSecret(values));
    const from = { values, live: undefined, settings: DEFAULT_SETTINGS, pullSecret: undefined };
    const templates = [values, { ...values }, other].map((data) => {
      const deployment = wantedChildren(spec, 1, { ...from, values: data }).at(-1)!;
      return JSON.stringify("spec" in deployment && "template" in deployment.spec && deployment.spec.template);
    });
    expect(templates[1]).toBe(templates[0]);
    expect(templates[2]).not.toBe(templates[0]);
  });

  it("another number of replicas does not, nor another source with an equal image", () => {
    expect(templateOf(spec, 5)).toEqual(templateOf(spec, 2));
    expect(deploymentOf(spec, 5, context).spec.replicas).toBe(5);
    expect(templateOf({ ...spec, sourceDigest: "d2" }, 2)).toEqual(templateOf(spec, 2));
    expect(deploymentOf({ ...spec, sourceDigest: "d2" }, 2, context)).not.toEqual(deploymentOf(spec, 2, context));
  });

  it("equal specs in any order of their keys are equal manifests", () => {
    const maps = fc.dictionary(fc.stringMatching(/^[A-Z_]{1,6}$/), fc.string({ maxLength: 8 }));
    const secrets = fc.dictionary(
      fc.stringMatching(/^[a-z]{1,6}$/),
      fc.record({ secret: fc.constantFrom("api", "db"), key: fc.constantFrom("a", "b") }),
    );
    const specs = fc.record({ env: maps, secretEnv: secrets, memoryMB: fc.integer({ min: 32, max: 10_240 }) });
    fc.assert(
      fc.property(specs, fc.nat(3), ({ env, secretEnv, memoryMB }, replicas) => {
        const one = { ...spec, env, secretEnv, memoryMB };
        const two = turned({ ...one, env: turned(env), secretEnv: turned(secretEnv) });
        const manifests = [one, two].map((wanted) => deploymentOf(wanted, replicas, context));
        expect(JSON.stringify(manifests[1])).toBe(JSON.stringify(manifests[0]));
      }),
    );
  });
});

function turned<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).reverse()) as T;
}

describe("the environment", () => {
  const valueIn = (of: WorkloadSpec, name: string) =>
    templateOf(of, 1).spec?.containers[0]?.env?.find((variable) => variable.name === name)?.value;

  it("values reach the process as they are, whatever Kubernetes expands", () => {
    const text = fc.stringMatching(/^[$()A-Z]{0,12}$/);
    fc.assert(
      fc.property(text, (value) => {
        const written = valueIn({ ...spec, env: { ...spec.env, VALUE: value, A: "expanded" } }, "VALUE");
        expect(expanded(written ?? "", { A: "expanded" })).toBe(value);
      }),
    );
  });

  it("what sless sets cannot be set by a user, a home can", () => {
    const env = { PORT: "1", SLESS_ENTRYPOINT: "x.y", HOME: "/data" };
    expect(valueIn({ ...spec, env }, "PORT")).toBe("8080");
    expect(valueIn({ ...spec, env }, "SLESS_ENTRYPOINT")).toBe("handler.handle");
    expect(valueIn({ ...spec, env }, "HOME")).toBe("/data");
  });
});

/** As `third_party/forked/golang/expansion` of Kubernetes does it. */
function expanded(text: string, known: Readonly<Record<string, string>>): string {
  let result = "";
  for (let at = 0; at < text.length; at++) {
    const next = text[at + 1];
    if (text[at] !== "$" || next === undefined) result += text[at];
    else if (next === "$") {
      result += "$";
      at++;
    } else if (next === "(" && text.indexOf(")", at) > 0) {
      const end = text.indexOf(")", at);
      const name = text.slice(at + 2, end);
      result += known[name] ?? `$(${name})`;
      at = end;
    } else {
      result += `$${next}`;
      at++;
    }
  }
  return result;
}

describe("quantities", () => {
  it.each([
    [32, "32Mi", "10m"],
    [128, "128Mi", "31m"],
    [1024, "1Gi", "250m"],
    [4096, "4Gi", "1"],
    [10_240, "10Gi", "2500m"],
  ])("%i MB asks for %s and %s of CPU, as the API server writes them", (memoryMB, memory, cpu) => {
    const { resources } = templateOf({ ...spec, memoryMB }, 1).spec!.containers[0]!;
    expect(resources).toEqual({ requests: { cpu, memory }, limits: { memory } });
  });

  it("a limit of CPU and a sandbox are there where they are set", () => {
    const settings = { ...DEFAULT_SETTINGS, cpuLimitMilliPerGiB: 1000, runtimeClassName: "gvisor" };
    const pod = templateOf(spec, 1, { ...context, settings }).spec!;
    expect(pod.containers[0]!.resources!.limits).toEqual({ cpu: "125m", memory: "128Mi" });
    expect(pod.runtimeClassName).toBe("gvisor");
  });
});

it("a name too long for the labels of its pods ends in a hash, and still tells runs apart", () => {
  const long = { ...job.spec.workload, name: "a".repeat(52) };
  expect(jobNameOf(job.spec.workload, 3)).toBe("report-3");
  expect(jobNameOf(long, 2_147_483_647)).toHaveLength(63);
  const names = [
    jobNameOf({ ...long, name: "a".repeat(60) }, 1234),
    jobNameOf({ ...long, name: "a".repeat(60) }, 1235),
  ];
  expect(new Set(names).size).toBe(2);
  for (const name of names) expect(name.length).toBeLessThanOrEqual(63);
});

it.each([
  ["no config", undefined],
  ["no JSON", Buffer.from("{").toString("base64")],
  ["no auths", Buffer.from("{}").toString("base64")],
  ["another registry", Buffer.from('{"auths":{"other.example.com":{}}}').toString("base64")],
])("a docker config with %s gives no copy", (_, text) => {
  expect(registrySecretOf("sless-fn-demo", "registry.example.com", text)).toBeUndefined();
});

describe("what is wanted", () => {
  const from = { values, live: undefined, settings: DEFAULT_SETTINGS, pullSecret: undefined };
  const kinds = (...args: Parameters<typeof wantedChildren>) => wantedChildren(...args).map(({ kind }) => kind);

  it.each<[string, WorkloadSpec, number, string[]]>([
    ["replicas want all of it", spec, 2, ["Secret", "Service", "Deployment"]],
    ["without secrets there is none", { ...spec, secretEnv: {} }, 2, ["Service", "Deployment"]],
    ["without replicas it is the Deployment alone", spec, 0, ["Deployment"]],
    ["without an image it is nothing", { ...spec, imageRef: "" }, 0, []],
  ])("%s", (_, wanted, replicas, expected) => {
    expect(kinds(wanted, replicas, from)).toEqual(expected);
  });

  it("what never served keeps its image when it is stopped", () => {
    const live = { metadata: { name: "hello" }, spec: { template: { spec: { containers: [{ image: "kept" }] } } } };
    const [deployment] = wantedChildren({ ...spec, imageRef: "" }, 0, { ...from, live });
    expect(JSON.stringify(deployment)).toContain('"image":"kept"');
  });
});
