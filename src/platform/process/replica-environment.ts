import { type LocalImage, NOTIFY_FD, PARENT_FD } from "../../processes/index.ts";
import type { WorkloadSpec } from "../platform.ts";
import { RESULT_MAX_BYTES } from "../truncate-message.ts";

export type Environment = Readonly<Record<string, string>>;

interface Layers {
  readonly spec: WorkloadSpec;
  readonly image: LocalImage;
  /** What every replica gets: PATH and the like. Never the server's own environment. */
  readonly base: Environment;
  readonly secrets: Environment;
  readonly host: string;
}

/** The whole environment of a replica, as docs/runtimes.md describes it; what sless sets wins over what the user sets. */
export function replicaEnvironment(layers: Layers): Environment {
  return {
    ...workloadEnvironment(layers),
    PORT: "0",
    SLESS_HOST: layers.host,
    SLESS_NOTIFY_FD: String(NOTIFY_FD),
  };
}

/** The image's command for a replica of this spec. */
export function replicaCommand(spec: WorkloadSpec, image: LocalImage): string[] {
  return image.command.map((part) => withMemory(part, spec));
}

/** What a process of this spec may hold, with all that it starts. */
export function memoryBytes({ memoryMB }: WorkloadSpec): number {
  return memoryMB * 1024 * 1024;
}

function withMemory(text: string, spec: WorkloadSpec): string {
  return text.replaceAll("{memoryMB}", String(spec.memoryMB));
}

/** The whole environment of a job's run: it reads its event from a file and leaves its result in one. */
export function jobEnvironment(
  layers: Layers,
  files: { readonly event: string; readonly result: string },
): Environment {
  return {
    ...workloadEnvironment(layers),
    SLESS_JOB: "1",
    SLESS_EVENT_FILE: files.event,
    SLESS_RESULT_FILE: files.result,
    SLESS_RESULT_MAX: String(RESULT_MAX_BYTES),
  };
}

function workloadEnvironment({ spec, image, base, secrets }: Layers): Environment {
  return {
    ...base,
    ...Object.fromEntries(Object.entries(image.env).map(([name, value]) => [name, withMemory(value, spec)])),
    ...spec.env,
    ...secrets,
    SLESS_PARENT_FD: String(PARENT_FD),
    SLESS_ENTRYPOINT: spec.entrypoint,
    SLESS_FUNCTION: spec.workload.name,
    SLESS_NAMESPACE: spec.workload.namespace,
    SLESS_TIMEOUT_SEC: String(spec.timeoutSec),
    SLESS_MEMORY_MB: String(spec.memoryMB),
    SLESS_SOURCE: image.source,
    SLESS_DEPS: image.deps,
  };
}
