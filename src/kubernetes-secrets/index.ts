export {
  type KubernetesSecrets,
  type KubernetesSecretsOptions,
  kubernetesSecrets,
  watchSecrets,
} from "./kubernetes-secrets.ts";
