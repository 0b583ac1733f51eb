export {
  type KubernetesPlatform,
  type KubernetesPlatformOptions,
  openKubernetesPlatform,
} from "./kubernetes-platform.ts";
export { type KubernetesReplicas, kubernetesReplicas } from "./kubernetes-replicas.ts";
export { kubernetesLogs } from "./pod-logs.ts";
export type { PlatformSettings } from "./settings.ts";
