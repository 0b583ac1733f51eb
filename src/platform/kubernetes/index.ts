export {
  type KubernetesPlatform,
  type KubernetesPlatformOptions,
  openKubernetesPlatform,
} from "./kubernetes-platform.ts";
export { type KubernetesReplicas, kubernetesReplicas } from "./kubernetes-replicas.ts";
export { CHILD_LABELS, deployNamespaceOf, MANAGED_BY } from "./names.ts";
export { kubernetesLogs } from "./pod-logs.ts";
export { DEFAULT_SETTINGS, type PlatformSettings } from "./settings.ts";
