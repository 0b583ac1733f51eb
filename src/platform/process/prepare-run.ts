import { hashFields, type ObjectKey, refText } from "../../apis/index.ts";
import { SlessError } from "../../errors/index.ts";
import type { LocalImage } from "../../processes/index.ts";
import type { WorkloadSpec } from "../platform.ts";
import type { Environment } from "./replica-environment.ts";
import { type Failure, failureOf } from "./start-fault.ts";

export interface ImageSource {
  resolveImage(imageRef: string): Promise<LocalImage | undefined>;
  /** What is missing of an image that is there; undefined when it is whole, or not there. */
  imageDamage?(imageRef: string): Promise<string | undefined>;
  /** Value of a key of a secret of a namespace. */
  secrets(namespace: string, name: string, key: string): Promise<string | undefined>;
}

export interface PreparedRun {
  readonly image: LocalImage;
  readonly secrets: Environment;
}

/**
 * What a process of a workload needs before it can start.
 *
 * @throws SlessError `secret_missing`, `start_failed` when the image is not there, `image_damaged`
 */
export async function prepareRun(spec: WorkloadSpec, from: ImageSource): Promise<PreparedRun> {
  const [image, secrets] = await Promise.all([from.resolveImage(spec.imageRef), resolveSecrets(spec, from)]);
  if (!image) {
    const damaged = await damageOf(spec, from);
    if (damaged) throw damaged;
    const cause = `its image ${spec.imageRef} of ${refText(spec.workload)} is not there`;
    throw new SlessError("start_failed", { cause, name: spec.workload.name });
  }
  return { image, secrets };
}

/**
 * What is told of a process that ended: first what its image lost, if it did. That may be why it ended, or the doing of
 * the code itself, so what was to be told stays.
 */
export async function withDamage(failure: Failure, spec: WorkloadSpec, from: ImageSource): Promise<Failure> {
  const damaged = await damageOf(spec, from);
  if (!damaged) return failure;
  const { reason, message } = failureOf(damaged);
  return { reason, message: `${message}\n${failure.message}` };
}

async function damageOf({ imageRef }: WorkloadSpec, from: ImageSource): Promise<SlessError | undefined> {
  const damage = await from.imageDamage?.(imageRef).catch(() => undefined);
  return damage === undefined ? undefined : new SlessError("image_damaged", { cause: damage });
}

async function resolveSecrets(spec: WorkloadSpec, from: ImageSource): Promise<Environment> {
  const entries = Object.entries(spec.secretEnv).map(async ([variable, { secret, key }]) => {
    const value = await from.secrets(spec.workload.namespace, secret, key);
    if (value === undefined) throw new SlessError("secret_missing", { secret, key });
    return [variable, value] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

/**
 * Tells equal values of a spec's secrets from others; `""` without secrets. Only for comparing in this process: it is
 * made of the values, so it is neither written nor logged.
 *
 * @throws whatever reading them throws
 */
export async function secretsDigest({ workload, secretEnv }: WorkloadSpec, from: ImageSource): Promise<string> {
  const names = Object.keys(secretEnv).sort();
  if (names.length === 0) return "";
  const values = names.map(async (name) => {
    const { secret, key } = secretEnv[name]!;
    return [name, (await from.secrets(workload.namespace, secret, key)) ?? "\0missing"];
  });
  return hashFields((await Promise.all(values)).flat());
}

export function usesSecret({ workload, secretEnv }: WorkloadSpec, { namespace, name }: ObjectKey): boolean {
  return workload.namespace === namespace && Object.values(secretEnv).some(({ secret }) => secret === name);
}
