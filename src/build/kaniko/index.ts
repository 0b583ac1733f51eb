export * from "./build-job.ts";
export * from "./build-names.ts";
export * from "./build-namespace.ts";
export { type DockerSecret, dockerConfigIn } from "./docker-secrets.ts";
export * from "./fetch-context.ts";
export * from "./kaniko-jobs.ts";
export * from "./kaniko-settings.ts";
export * from "./push-layout.ts";
