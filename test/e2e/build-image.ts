import { lstat, readdir, readFile, readlink } from "node:fs/promises";
import { join } from "node:path";
import { type LayerEntry, makeLayer } from "../../src/build/layer/index.ts";
import { messageOf } from "../../src/errors/index.ts";
import { API_RESOURCES, type ApiObject, apiPath } from "../../src/kubernetes/index.ts";
import { eventually } from "../support/eventually.ts";
import type { E2eCluster } from "./open-cluster.ts";

export interface ImageBuild {
  /** Repository of the registry, and part of the Job's name. */
  readonly name: string;
  /** Files of the build context, the Dockerfile among them. */
  readonly context: readonly LayerEntry[];
  /** Path of the Dockerfile in the context; default `Dockerfile`. */
  readonly dockerfile?: string;
  readonly args?: Readonly<Record<string, string>>;
}

/** An image where it lies, by digest. */
export interface BuiltImage {
  readonly repository: string;
  readonly digest: string;
  /** `10.244.0.1:5000/sless@sha256:…`. */
  readonly reference: string;
}

interface JobObject extends ApiObject {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

const WITHIN_MS = 480_000;
/** A Job whose deadline is over loses its pod, and with it the log that says where it stood: it ends later than we wait. */
const JOB_ENDS_SEC = WITHIN_MS / 1_000 + 60;
const TOLD_LINES = 20;
/** As Docker's own client does, kaniko needs these to write a root file system. */
const CAPABILITIES = ["CHOWN", "DAC_OVERRIDE", "FOWNER", "SETGID", "SETUID", "SETFCAP", "KILL"];

/**
 * Builds with a kaniko Job in the namespace, from a context in S3, and pushes. What was built of the same context and
 * arguments before is taken as it is.
 */
export async function buildImage(cluster: E2eCluster, namespace: string, build: ImageBuild): Promise<BuiltImage> {
  const { registry, objects, settings } = cluster;
  const args = Object.entries(build.args ?? {}).map(([name, value]) => `--build-arg=${name}=${value}`);
  const dockerfile = build.dockerfile ?? "Dockerfile";
  const layer = await makeLayer([
    ...build.context,
    { path: ".build-arguments", content: Buffer.from(args.join("\n")) },
  ]);
  const tag = layer.diffId.slice("sha256:".length).slice(0, 16);
  const present = await registry.manifestDigest(build.name, tag);
  if (present) return imageAt(cluster, build.name, present);
  const key = `e2e/${build.name}/${tag}.tar.gz`;
  await objects.put(key, layer.bytes);
  const job = `build-${build.name.replaceAll(/[^a-z0-9]/g, "-")}-${tag.slice(0, 8)}`;
  const flags = [
    `--context=s3://${settings.s3.bucket}/${key}`,
    `--dockerfile=${dockerfile}`,
    `--destination=${settings.registryHost}/${build.name}:${tag}`,
    ...(cluster.isPlainRegistry ? ["--insecure"] : []),
    ...(settings.registryMirror ? [`--registry-mirror=${settings.registryMirror}`] : []),
    "--single-snapshot",
    ...args,
  ];
  await runJob(cluster, namespace, job, flags);
  const digest = await registry.manifestDigest(build.name, tag);
  if (!digest) throw new Error(`${job} is complete, and ${build.name}:${tag} is not in the registry`);
  return imageAt(cluster, build.name, digest);
}

export function imageAt({ settings }: E2eCluster, repository: string, digest: string): BuiltImage {
  return { repository, digest, reference: `${settings.registryHost}/${repository}@${digest}` };
}

async function runJob(cluster: E2eCluster, namespace: string, name: string, args: readonly string[]): Promise<void> {
  const { s3, kanikoImage } = cluster.settings;
  await cluster.apply("Secret", {
    metadata: { name: "s3", namespace },
    stringData: {
      AWS_ACCESS_KEY_ID: s3.credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: s3.credentials.secretAccessKey,
    },
  });
  const env = {
    AWS_REGION: s3.region,
    S3_ENDPOINT: s3.endpoint,
    S3_FORCE_PATH_STYLE: String(s3.forcePathStyle),
  };
  const container = {
    name: "kaniko",
    image: kanikoImage,
    args,
    envFrom: [{ secretRef: { name: "s3" } }],
    env: Object.entries(env).map(([variable, value]) => ({ name: variable, value })),
    securityContext: {
      runAsUser: 0,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ["ALL"], add: CAPABILITIES },
    },
  };
  await cluster.apply("Job", {
    metadata: { name, namespace },
    spec: {
      backoffLimit: 0,
      activeDeadlineSeconds: JOB_ENDS_SEC,
      template: {
        spec: {
          restartPolicy: "Never",
          automountServiceAccountToken: false,
          securityContext: { seccompProfile: { type: "RuntimeDefault" } },
          containers: [container],
        },
      },
    },
  });
  const path = apiPath(API_RESOURCES.Job, { namespace, name });
  const ended = (job: JobObject | undefined) => endOf(job) !== undefined;
  try {
    const job = await eventually(`the build ${name}`, () => cluster.get<JobObject>(path), ended, WITHIN_MS);
    if (endOf(job) === "Failed") throw new Error("it failed");
  } catch (error) {
    const lines = (await logOf(cluster, namespace, name)).trimEnd().split("\n").slice(-TOLD_LINES).join("\n");
    // What hangs shall not go on beside what is tried next.
    await cluster.client.request({ method: "DELETE", path, body: { propagationPolicy: "Background" } });
    throw new Error(`the build ${name}: ${messageOf(error)}. It wrote last:\n${lines}`, { cause: error });
  }
}

function endOf(job: JobObject | undefined): string | undefined {
  const ends = ["Complete", "Failed"];
  return job?.status?.conditions?.find(({ type, status }) => status === "True" && ends.includes(type))?.type;
}

async function logOf({ client }: E2eCluster, namespace: string, job: string): Promise<string> {
  const path = apiPath(API_RESOURCES.Pod, { namespace });
  const query = { labelSelector: `job-name=${job}` };
  const { items } = await client.request<{ items: ApiObject[] }>({ method: "GET", path, query });
  const chunks: Uint8Array[] = [];
  for (const { metadata } of items) {
    const log = client.stream({ method: "GET", path: apiPath(API_RESOURCES.Pod, { ...metadata, subresource: "log" }) });
    for await (const chunk of log) chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** Files and links below a folder of this machine, less what Python leaves behind. */
export async function filesBelow(folder: string, prefix = ""): Promise<LayerEntry[]> {
  const entries: LayerEntry[] = [];
  const names = await readdir(folder, { recursive: true });
  for (const name of names.filter((each) => !each.includes("__pycache__"))) {
    const path = join(folder, name);
    const stat = await lstat(path);
    if (stat.isSymbolicLink()) entries.push({ path: prefix + name, target: await readlink(path) });
    else if (stat.isFile())
      entries.push({ path: prefix + name, content: await readFile(path), executable: (stat.mode & 0o100) !== 0 });
  }
  return entries;
}
