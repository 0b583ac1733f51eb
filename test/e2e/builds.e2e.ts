import { createHash, randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ImageJobRequest, ImageJobState } from "../../src/build/index.ts";
import { type KanikoJobs, type KanikoOptions, kanikoJobs } from "../../src/build/kaniko/index.ts";
import { systemClock } from "../../src/controller/index.ts";
import { API_RESOURCES, type ApiObject, apiPath } from "../../src/kubernetes/index.ts";
import { eventually } from "../support/eventually.ts";
import type { BuiltImage } from "./build-image.ts";
import { type E2eCluster, openCluster } from "./open-cluster.ts";
import { runProbingPod } from "./probe.ts";
import { readE2eSettings } from "./settings.ts";
import { buildSlessImage } from "./sless-image.ts";

const RUN = randomBytes(3).toString("hex");
const BUILDS = "sless-e2e-builds";
const NAMESPACE = `sless-e2e-kaniko-${RUN}`;
/** Of a registry that asks nobody: whoever finds it has found what only the pushing container may have. */
const PASSWORD = `push-password-${RUN}`;
const BUILT_WITHIN_MS = 240_000;

let cluster: E2eCluster;
let sless: BuiltImage;
let jobs: KanikoJobs;
const stop = new AbortController();

beforeAll(async () => {
  cluster = await openCluster(readE2eSettings(process.env));
  const labels = { "pod-security.kubernetes.io/enforce": "baseline" };
  await cluster.apply("Namespace", { metadata: { name: BUILDS, labels } });
  sless = await buildSlessImage(cluster, BUILDS);
  const auths = { [cluster.settings.registryHost]: { username: "sless", password: PASSWORD } };
  await cluster.apply("Secret", {
    metadata: { name: `push-${RUN}`, namespace: BUILDS },
    type: "kubernetes.io/dockerconfigjson",
    stringData: { ".dockerconfigjson": JSON.stringify({ auths }) },
  });
  jobs = open({ slessImage: sless.reference });
  await jobs.start(stop.signal);
}, 600_000);

afterAll(async () => {
  stop.abort();
  if (!cluster) return;
  const paths = [
    apiPath(API_RESOURCES.Namespace, { name: NAMESPACE }),
    apiPath(API_RESOURCES.Secret, { namespace: BUILDS, name: `push-${RUN}` }),
  ];
  for (const path of paths) await cluster.client.request({ method: "DELETE", path });
  await cluster[Symbol.asyncDispose]();
});

function open(settings: Partial<KanikoOptions> & Pick<KanikoOptions, "slessImage">): KanikoJobs {
  const { client, objects, isPlainRegistry } = cluster;
  const { registryHost, registryMirror, kanikoImage, hostAddress } = cluster.settings;
  return kanikoJobs({
    client,
    objects,
    presign: objects.presignedGet,
    clock: systemClock,
    log: { warn: (fields, message) => console.warn(message, fields) },
    settings: {
      namespace: NAMESPACE,
      builderImage: kanikoImage,
      registry: {
        host: registryHost,
        plainHttp: isPlainRegistry,
        mirror: registryMirror,
        pushSecret: { namespace: BUILDS, name: `push-${RUN}` },
      },
      egressAllowed: [hostAddress],
      ...settings,
    },
  });
}

type Files = Readonly<Record<string, string>>;

function buildOf(name: string, dockerfile: string, files: Files = {}): ImageJobRequest {
  const key = createHash("sha256")
    .update(JSON.stringify([RUN, name, dockerfile, files]))
    .digest("hex");
  return {
    key,
    workload: { kind: "Function", namespace: NAMESPACE, name },
    target: { repository: `sless-e2e-${name}`, tag: RUN },
    dockerfile,
    async *files() {
      for (const [path, text] of Object.entries(files)) yield { path, content: Buffer.from(text) };
    },
  };
}

async function ended(build: ImageJobRequest): Promise<ImageJobState> {
  const isEnd = ({ phase }: ImageJobState) => phase !== "building";
  return eventually(`the build ${build.workload.name}`, () => jobs.ensure(build), isEnd, BUILT_WITHIN_MS);
}

async function logOf({ key }: ImageJobRequest, follow = false): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of jobs.logs(key, { follow, signal: AbortSignal.timeout(BUILT_WITHIN_MS) }))
    chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/** What a command prints in a container of the image. */
async function runIn(build: ImageJobRequest, digest: string, command: readonly string[]): Promise<string> {
  const { name } = build.workload;
  const image = `${cluster.settings.registryHost}/${build.target.repository}@${digest}`;
  const metadata = { name: `run-${name}`, namespace: NAMESPACE };
  await cluster.apply("Pod", {
    metadata,
    spec: { restartPolicy: "Never", containers: [{ name: "run", image, command }] },
  });
  type Pod = ApiObject & { status?: { phase?: string } };
  const isEnd = (pod: Pod | undefined) => ["Succeeded", "Failed"].includes(pod?.status?.phase ?? "");
  await eventually(`a run of ${name}`, () => cluster.get<Pod>(apiPath(API_RESOURCES.Pod, metadata)), isEnd, 60_000);
  const path = apiPath(API_RESOURCES.Pod, { ...metadata, subresource: "log" });
  const chunks: Uint8Array[] = [];
  for await (const chunk of cluster.client.stream({ method: "GET", path, accept: "*/*" })) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

describe.concurrent("builds", () => {
  it("dependencies of a Python function are installed by a Job, and its image runs with them", async () => {
    const dockerfile = [
      "FROM python:3.11-slim",
      "COPY deps/ /sless/image/deps/",
      'RUN ["/bin/sh", "-c", "python3 -m pip install --target /sless/image/deps -r /sless/image/deps/requirements.txt"]',
    ].join("\n");
    const build = buildOf("python", dockerfile, { "deps/requirements.txt": "idna==3.7\n" });
    await jobs.ensure(build);
    const log = logOf(build, true);
    const state = await ended(build);
    expect(state).toMatchObject({ phase: "built" });
    const { digest } = state as Extract<ImageJobState, { phase: "built" }>;
    expect(await cluster.registry.manifestDigest(build.target.repository, RUN)).toBe(digest);
    const code = "import sys; sys.path.insert(0, '/sless/image/deps'); import idna; print(idna.__version__)";
    expect(await runIn(build, digest, ["python3", "-c", code])).toBe("3.7\n");
    expect(await log).toContain("Successfully installed idna-3.7");
    expect(await log).toContain(digest);
  });

  it("a Go function is compiled by a Job, and nothing of the compiler is in its image", async () => {
    const dockerfile = [
      "FROM golang:1.26 AS build",
      "COPY src/ /src/",
      "WORKDIR /src",
      "RUN go build -o /out/function .",
      "FROM debian:slim",
      "COPY --from=build /out/ /sless/out/",
    ].join("\n");
    const build = buildOf("go", dockerfile, {
      "src/go.mod": "module demo\n\ngo 1.26\n",
      "src/main.go": 'package main\n\nimport "fmt"\n\nfunc main() { fmt.Println("compiled") }\n',
    });
    const state = await ended(build);
    expect(state).toMatchObject({ phase: "built" });
    const { digest } = state as Extract<ImageJobState, { phase: "built" }>;
    const command = ["/bin/sh", "-c", "/sless/out/function; ls /usr/local/go /src 2>&1 | grep -c 'No such file'"];
    expect(await runIn(build, digest, command)).toBe("compiled\n2\n");
  });

  /** Prints a line that begins with FOUND for everything that only the pushing container may have. */
  const LOOK = [
    // The password is put together by the command, which else would find its own text.
    "P=push-password",
    `grep -rsl $P-${RUN} / --exclude-dir=proc --exclude-dir=sys --exclude-dir=buildcontext && echo FOUND password`,
    "for f in /kaniko/.docker/config.json /root/.docker/config.json /run/sless/registry/config.json /var/run/secrets/kubernetes.io/serviceaccount/token; do test -e $f && echo FOUND $f; done",
    "cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep -aE '^(AWS_|S3_|REGISTRY_|.*(PASSWORD|TOKEN|SECRET))' && echo FOUND variable",
    "echo looked everywhere",
  ].join("; ");

  it("a command that looks for credentials finds none", async () => {
    const build = buildOf("looks", ["FROM python:3.11-slim", `RUN ${LOOK}; true`].join("\n"));
    expect(await ended(build)).toMatchObject({ phase: "built" });
    const log = await logOf(build);
    expect(log).toMatch(/^looked everywhere$/m);
    expect(log.split("\n").filter((line) => line.startsWith("FOUND"))).toEqual([]);
  });

  it("the same command finds what was put there for it", async () => {
    const dockerfile = [
      "FROM python:3.11-slim",
      "COPY planted/ /planted/",
      "COPY planted/ /root/.docker/",
      "ENV REGISTRY_PASSWORD=planted",
      `RUN ${LOOK}; true`,
    ];
    const build = buildOf("finds", dockerfile.join("\n"), {
      "planted/config.json": JSON.stringify({ auth: PASSWORD }),
    });
    expect(await ended(build)).toMatchObject({ phase: "built" });
    const found = (await logOf(build)).split("\n").filter((line) => line.startsWith("FOUND"));
    expect(found).toEqual(["FOUND password", "FOUND /root/.docker/config.json", "FOUND variable"]);
  });

  it("a command reaches neither the API server nor metadata, where the cluster's network enforces policies", async ({
    annotate,
  }) => {
    const probe = [
      "import socket",
      "for name, place in {'api server': ('kubernetes.default.svc', 443), 'metadata': ('169.254.169.254', 80)}.items():",
      "    try:",
      "        socket.create_connection(place, timeout=3).close()",
      "        print('REACHED', name)",
      "    except OSError as error:",
      "        print('not reached:', name, error)",
    ];
    const dockerfile = ["FROM python:3.11-slim", "COPY src/ /src/", "RUN python3 /src/probe.py"].join("\n");
    const build = buildOf("probes", dockerfile, { "src/probe.py": `${probe.join("\n")}\n` });
    expect(await ended(build)).toMatchObject({ phase: "built" });
    const reached = (await logOf(build)).split("\n").filter((line) => line.startsWith("REACHED"));
    // A pod that no policy is about reaches it, or nothing was shown.
    const pod = { namespace: BUILDS, name: `probe-${RUN}` };
    const { probe: probeFrom } = await runProbingPod(cluster, pod);
    expect(await probeFrom({ "api server": ["kubernetes.default.svc", 443] })).toEqual({ "api server": true });
    await cluster.client.request({ method: "DELETE", path: apiPath(API_RESOURCES.Pod, pod) });
    if (cluster.settings.podNetwork) expect(reached).toEqual([]);
    else if (reached.length > 0) await annotate(`this cluster enforces no NetworkPolicy: ${reached.join(", ")}`);
    const policy = await cluster.get<ApiObject & { spec: { policyTypes: string[] } }>(
      apiPath(API_RESOURCES.NetworkPolicy, { namespace: NAMESPACE, name: "sless-builds" }),
    );
    expect(policy?.spec.policyTypes).toEqual(["Ingress", "Egress"]);
  });

  it("a command that fails is told with its exit code and its last lines", async () => {
    const dockerfile = "FROM python:3.11-slim\nRUN pip install --no-index nosuchthing\n";
    const state = await ended(buildOf("fails", dockerfile));
    expect(state).toMatchObject({ phase: "failed", by: "command", message: "pip ended with exit code 1" });
    expect(state).toMatchObject({ tail: expect.stringContaining("No matching distribution found for nosuchthing") });
  });

  it("a build that needs more memory than it may is told with its limit", async () => {
    const other = open({ slessImage: sless.reference, memoryMB: 256, memoryRequestMB: 64 });
    const dockerfile = 'FROM python:3.11-slim\nRUN python3 -c "b = bytearray(700 * 2**20)"\n';
    const build = buildOf("hungry", dockerfile);
    await other.start(stop.signal);
    await other.ensure(build);
    const isEnd = ({ phase }: ImageJobState) => phase === "failed";
    const state = await eventually("the build", () => other.ensure(build), isEnd, BUILT_WITHIN_MS);
    expect(state).toMatchObject({ by: "builder", reason: "OutOfMemory", message: expect.stringContaining("256 MiB") });
  });

  it("a build that fills its disk is told with its limit", async () => {
    const other = open({ slessImage: sless.reference, diskMB: 400 });
    const dockerfile = "FROM python:3.11-slim\nRUN head -c 600M /dev/zero > /big; sleep 120\n";
    const build = buildOf("fat", dockerfile);
    await other.start(stop.signal);
    await other.ensure(build);
    const isEnd = ({ phase }: ImageJobState) => phase === "failed";
    const state = await eventually("the build", () => other.ensure(build), isEnd, BUILT_WITHIN_MS);
    expect(state).toMatchObject({ by: "builder", reason: "DiskFull", message: expect.stringContaining("400 MiB") });
  });

  it("a build that is cancelled ends", async () => {
    const build = buildOf("endless", "FROM python:3.11-slim\nRUN sleep 600\n");
    const isRunning = (state: ImageJobState) => state.phase === "building" && state.step === "running sleep 600";
    await eventually("it runs", () => jobs.ensure(build), isRunning, BUILT_WITHIN_MS);
    await jobs.cancel(build.key);
    const path = apiPath(API_RESOURCES.Pod, { namespace: NAMESPACE });
    const query = { labelSelector: "sless.kube5s.ru/name=endless" };
    const pods = async () =>
      (await cluster.client.request<{ items: ApiObject[] }>({ method: "GET", path, query })).items;
    await eventually("its pod goes", pods, (items) => items.length === 0, 60_000);
  });
});
