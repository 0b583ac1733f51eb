import type { V1Container, V1JobSpec, V1PodSpec, V1ResourceRequirements, V1Volume } from "@kubernetes/client-node";
import type { ApiObject } from "../../kubernetes/index.ts";
import { parseImageReference } from "../../registry/index.ts";
import type { ImageJobRequest } from "../image-jobs.ts";
import { BUILD_ANNOTATIONS, buildJobName, buildLabels, CONTAINERS } from "./build-names.ts";
import { DOCKER_CONFIG_KEY } from "./docker-secrets.ts";
import type { KanikoSettings } from "./kaniko-settings.ts";

export interface BuildJob extends ApiObject {
  apiVersion: "batch/v1";
  kind: "Job";
  spec: V1JobSpec;
}

export interface BuildJobInput {
  readonly request: Pick<ImageJobRequest, "key" | "workload" | "target" | "dockerfile">;
  /** Of the build's files in the object store, and a presigned address of them. */
  readonly contextKey: string;
  readonly contextUrl: string;
  /** Secrets of the build namespace. */
  readonly pushSecret: string | undefined;
  readonly pullSecret: string | undefined;
  readonly startedAt: Date;
}

const [FETCH, BUILD, PUSH] = CONTAINERS;
const CONTEXT_FILE = "context.tar.gz";
/** In the containers of sless. */
const CONTEXT = "/context";
const LAYOUT = "/layout";
/** The builder's own folder is of no image: whatever else an image has may be named as it likes. */
const BUILDER_CONTEXT = "/kaniko/files";
const BUILDER_LAYOUT = "/kaniko/layout";
const CREDENTIALS = "/run/sless/registry";
/** As Docker's own builder does, kaniko needs these to write the files of an image as they are. */
const CAPABILITIES = ["CHOWN", "DAC_OVERRIDE", "FOWNER", "SETGID", "SETUID", "SETFCAP", "KILL"];
const NOBODY = 65_532;
/** Without a request the limit would be one; a node that runs out of disk ends builds first. */
const NO_DISK = { "ephemeral-storage": "0" };
/** What sless needs beside what a build needs. */
const SMALL: V1ResourceRequirements = {
  requests: { cpu: "50m", memory: "96Mi", ...NO_DISK },
  limits: { cpu: "1", memory: "256Mi", "ephemeral-storage": "64Mi" },
};

/**
 * The Job that builds one image. Commands of the user run in the second container alone, which holds no credentials
 * but, where that is set, such as may only pull; the third runs none of them, and pushes what the second left. Pure.
 */
export function buildJobOf(input: BuildJobInput, settings: KanikoSettings): BuildJob {
  const { key, workload } = input.request;
  const labels = buildLabels(workload);
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: {
      name: buildJobName(key),
      namespace: settings.namespace,
      labels,
      annotations: {
        [BUILD_ANNOTATIONS.key]: key,
        [BUILD_ANNOTATIONS.context]: input.contextKey,
        [BUILD_ANNOTATIONS.startedAt]: input.startedAt.toISOString(),
      },
    },
    spec: {
      // It is tried again by whoever wants it, with a wait that grows.
      backoffLimit: 0,
      completions: 1,
      parallelism: 1,
      activeDeadlineSeconds: settings.timeoutSec,
      ttlSecondsAfterFinished: settings.keptSec,
      template: { metadata: { labels }, spec: podOf(input, settings) },
    },
  };
}

function podOf(input: BuildJobInput, settings: KanikoSettings): V1PodSpec {
  const { pushSecret, pullSecret } = input;
  const isFetched = input.contextUrl.startsWith("http:");
  const pulledWith = pullSecret ?? pushSecret;
  return {
    restartPolicy: "Never",
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    securityContext: { seccompProfile: { type: "RuntimeDefault" } },
    // The node pulls with it; no container sees it.
    ...(pulledWith === undefined ? {} : { imagePullSecrets: [{ name: pulledWith }] }),
    initContainers: [...(isFetched ? [fetchContainer(input, settings)] : []), buildContainer(input, settings)],
    containers: [pushContainer(input, settings)],
    volumes: [
      { name: "layout", emptyDir: { sizeLimit: `${settings.diskMB}Mi` } },
      ...(isFetched ? [{ name: "context", emptyDir: { sizeLimit: `${settings.diskMB}Mi` } }] : []),
      ...secretVolume("push-credentials", pushSecret),
      ...secretVolume("pull-credentials", pullSecret),
    ],
  };
}

function secretVolume(name: string, secretName: string | undefined): V1Volume[] {
  if (secretName === undefined) return [];
  const items = [{ key: DOCKER_CONFIG_KEY, path: "config.json" }];
  // Readable for whoever the container runs as; nobody else is in it.
  return [{ name, secret: { secretName, items, defaultMode: 0o444 } }];
}

/** kaniko fetches nothing from an address without TLS. */
function fetchContainer({ contextUrl }: BuildJobInput, settings: KanikoSettings): V1Container {
  return {
    ...slessContainer(FETCH, settings),
    args: ["fetch-context", "--url", contextUrl, "--to", `${CONTEXT}/${CONTEXT_FILE}`],
    volumeMounts: [{ name: "context", mountPath: CONTEXT }],
  };
}

function buildContainer({ contextUrl, pullSecret }: BuildJobInput, settings: KanikoSettings): V1Container {
  const isFetched = contextUrl.startsWith("http:");
  const { memoryRequestMB, memoryMB, cpuRequestMilli, cpuMilli, diskMB } = settings;
  return {
    name: BUILD,
    image: settings.builderImage,
    args: [
      `--context=${isFetched ? `tar://${BUILDER_CONTEXT}/${CONTEXT_FILE}` : contextUrl}`,
      "--dockerfile=Dockerfile",
      "--no-push",
      `--oci-layout-path=${BUILDER_LAYOUT}`,
      // Others tell changed files by their times, and miss some.
      "--snapshot-mode=full",
      "--single-snapshot",
      "--compressed-caching=false",
      "--image-download-retry=3",
      "--log-format=text",
      "--force",
      ...registryFlags(settings),
      ...settings.builderFlags,
    ],
    resources: {
      requests: { cpu: milliCores(cpuRequestMilli), memory: mebibytes(memoryRequestMB), ...NO_DISK },
      limits: { cpu: milliCores(cpuMilli), memory: mebibytes(memoryMB), "ephemeral-storage": mebibytes(diskMB) },
    },
    terminationMessagePolicy: "FallbackToLogsOnError",
    securityContext: {
      runAsUser: 0,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ["ALL"], add: CAPABILITIES },
    },
    volumeMounts: [
      { name: "layout", mountPath: BUILDER_LAYOUT },
      ...(isFetched ? [{ name: "context", mountPath: BUILDER_CONTEXT, readOnly: true }] : []),
      ...(pullSecret === undefined ? [] : [{ name: "pull-credentials", mountPath: "/kaniko/.docker", readOnly: true }]),
    ],
  };
}

function registryFlags({ registry }: KanikoSettings): string[] {
  const { host, plainHttp = false, mirror } = registry;
  return [
    ...(mirror === undefined ? [] : [`--registry-mirror=${mirror}`]),
    ...(plainHttp ? [...new Set([host, ...(mirror === undefined ? [] : [mirror])])].map(insecure) : []),
  ];
}

function insecure(host: string): string {
  return `--insecure-registry=${host}`;
}

function pushContainer({ request, pushSecret }: BuildJobInput, settings: KanikoSettings): V1Container {
  const { host, plainHttp = false } = settings.registry;
  const { repository, tag } = request.target;
  return {
    ...slessContainer(PUSH, settings),
    args: [
      "push-image",
      ...["--layout", LAYOUT],
      ...["--destination", `${host}/${repository}:${tag}`],
      ...["--report", "/dev/termination-log"],
      ...(plainHttp ? ["--plain-http"] : []),
      ...(pushSecret === undefined ? [] : ["--docker-config", `${CREDENTIALS}/config.json`]),
      ...baseRepositories(request.dockerfile, settings).flatMap((base) => ["--mount-from", base]),
    ],
    volumeMounts: [
      { name: "layout", mountPath: LAYOUT, readOnly: true },
      ...(pushSecret === undefined ? [] : [{ name: "push-credentials", mountPath: CREDENTIALS, readOnly: true }]),
    ],
  };
}

function slessContainer(name: string, { slessImage, env }: KanikoSettings): V1Container {
  return {
    name,
    image: slessImage,
    imagePullPolicy: "IfNotPresent",
    env: Object.entries(env).map(([variable, value]) => ({ name: variable, value })),
    resources: SMALL,
    terminationMessagePolicy: "FallbackToLogsOnError",
    securityContext: {
      runAsUser: NOBODY,
      runAsGroup: NOBODY,
      runAsNonRoot: true,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ["ALL"] },
      readOnlyRootFilesystem: true,
    },
  };
}

/** Repositories of the functions' registry that the stages stand on: their layers need not be sent. */
export function baseRepositories(dockerfile: string, { registry }: Pick<KanikoSettings, "registry">): string[] {
  const bases = [...dockerfile.matchAll(/^FROM\s+(?:--\S+\s+)*(\S+)/gim)].map(([, image = ""]) => image);
  const found = bases.flatMap((image) => {
    try {
      const { host, repository } = parseImageReference(image);
      const isThere = host === registry.host || (host === "docker.io" && registry.mirror === registry.host);
      return isThere ? [repository] : [];
    } catch {
      return [];
    }
  });
  return [...new Set(found)];
}

/** As the API server writes it. */
function mebibytes(amount: number): string {
  return amount % 1024 === 0 ? `${amount / 1024}Gi` : `${amount}Mi`;
}

function milliCores(milli: number): string {
  return milli % 1000 === 0 ? String(milli / 1000) : `${milli}m`;
}
