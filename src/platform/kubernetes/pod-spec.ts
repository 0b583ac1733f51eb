import type { V1Container, V1EnvVar, V1PodSpec, V1ResourceRequirements } from "@kubernetes/client-node";
import type { WorkloadSpec } from "../platform.ts";
import type { PlatformSettings } from "./settings.ts";

/** What the children of one workload are built from, beside its spec. */
export interface BuildContext {
  readonly settings: PlatformSettings;
  /** Secret with the values of `secretEnv`. */
  readonly envSecret: string | undefined;
  /** Secret to pull the image with. */
  readonly pullSecret: string | undefined;
}

export const CONTAINER = "function";
const CPU_MIN_MILLI = 10;

/** What pods of replicas and of runs have in common: everything that Pod Security *restricted* asks for, and more. */
export function podSpec(
  spec: WorkloadSpec,
  { settings, pullSecret }: BuildContext,
  parts: { readonly env: V1EnvVar[]; readonly container?: Partial<V1Container>; readonly pod?: Partial<V1PodSpec> },
): V1PodSpec {
  const { volumeMounts = [], ...container } = parts.container ?? {};
  const { volumes = [], ...pod } = parts.pod ?? {};
  return {
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: settings.runAsUser,
      runAsGroup: settings.runAsUser,
      seccompProfile: { type: "RuntimeDefault" },
    },
    ...(pullSecret === undefined ? {} : { imagePullSecrets: [{ name: pullSecret }] }),
    ...(settings.runtimeClassName === undefined ? {} : { runtimeClassName: settings.runtimeClassName }),
    volumes: [{ name: "tmp", emptyDir: { sizeLimit: `${settings.tmpMB}Mi` } }, ...volumes],
    containers: [
      {
        name: CONTAINER,
        image: spec.imageRef,
        imagePullPolicy: "IfNotPresent",
        env: parts.env,
        resources: resourcesOf(spec, settings),
        // The last lines of a crash are in the pod's status by themselves.
        terminationMessagePolicy: "FallbackToLogsOnError",
        securityContext: {
          allowPrivilegeEscalation: false,
          capabilities: { drop: ["ALL"] },
          readOnlyRootFilesystem: true,
        },
        volumeMounts: [{ name: "tmp", mountPath: "/tmp" }, ...volumeMounts],
        ...container,
      },
    ],
    ...pod,
  };
}

function resourcesOf({ memoryMB }: WorkloadSpec, settings: PlatformSettings): V1ResourceRequirements {
  const memory = quantity(memoryMB);
  const { cpuLimitMilliPerGiB } = settings;
  return {
    requests: { cpu: milliCores(memoryMB, settings.cpuMilliPerGiB), memory },
    limits: {
      memory,
      ...(cpuLimitMilliPerGiB === undefined ? {} : { cpu: milliCores(memoryMB, cpuLimitMilliPerGiB) }),
    },
  };
}

/** As the API server writes it, so that a live object can be compared. */
function quantity(mebibytes: number): string {
  return mebibytes % 1024 === 0 ? `${mebibytes / 1024}Gi` : `${mebibytes}Mi`;
}

function milliCores(memoryMB: number, perGiB: number): string {
  const milli = Math.max(CPU_MIN_MILLI, Math.round((memoryMB * perGiB) / 1024));
  return milli % 1000 === 0 ? String(milli / 1000) : `${milli}m`;
}
