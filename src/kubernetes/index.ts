export * from "./api-error.ts";
export * from "./api-resource.ts";
export type { KubeConfigSource } from "./kubeconfig.ts";
export * from "./kubernetes-client.ts";
export { kubernetesLease } from "./lease.ts";
export * from "./list-watch.ts";
export * from "./object-watch.ts";
export * from "./open-client.ts";
export { type RateLimit, rateLimit } from "./rate-limit.ts";
