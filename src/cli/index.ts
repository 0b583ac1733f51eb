export type { BuildSteps } from "./build-steps.ts";
export type * from "./cluster-app.ts";
export * from "./embedded-app.ts";
export type { Io } from "./io.ts";
export { main } from "./main.ts";
export { endProcess, processIo } from "./process-io.ts";
export type { CliDeps, ClusterAccess } from "./verb.ts";
