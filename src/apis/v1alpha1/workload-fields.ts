import Type from "typebox";
import { NAME_MAX_LENGTH, NAME_PATTERN } from "./metadata.ts";
import {
  SECRET_KEY_MAX_LENGTH,
  SECRET_KEY_PATTERN,
  SECRET_NAME_MAX_LENGTH,
  SECRET_NAME_PATTERN,
} from "./secret-names.ts";

/** Names that the platform sets itself; a user's `env` or `secretEnv` with one of them is refused. */
export const ENV_NAME_PATTERN = "^[A-Za-z_][A-Za-z0-9_]*$";
export function isReservedEnvName(name: string): boolean {
  return name === "PORT" || name.startsWith("SLESS_");
}

const ENV_MAX = 128;
/** Of all names and values of `env` together: they are in the memory of every process that follows the object. */
export const ENV_MAX_CHARACTERS = 262_144;

/** Of a manifest that names none. */
export const DEFAULT_ENTRYPOINT = "handler.handle";

/** `module.function` or `module:function`; the module may be a path (`src/handler.handle`). */
export const EntrypointSchema = Type.String({
  pattern: "^[A-Za-z0-9_][A-Za-z0-9_./-]*[.:][A-Za-z_$][A-Za-z0-9_$]*$",
  maxLength: 200,
  default: DEFAULT_ENTRYPOINT,
  description: "module.function that answers a call",
});

export const RuntimeNameSchema = Type.String({
  pattern: "^[a-z][a-z0-9.-]{0,61}[a-z0-9]$",
  description: "Name of a runtime, a folder of runtimes/",
});

export const MemorySchema = Type.Integer({
  minimum: 32,
  maximum: 10240,
  default: 128,
  description: "Memory of one replica in MiB",
});

export const EnvSchema = Type.Record(Type.String(), Type.String({ maxLength: 32768 }), {
  maxProperties: ENV_MAX,
  description: "Environment variables; PORT and SLESS_* are refused",
});

export const SecretKeyRefSchema = Type.Object({
  secret: Type.String({
    minLength: 1,
    maxLength: SECRET_NAME_MAX_LENGTH,
    pattern: SECRET_NAME_PATTERN,
    description: "Name of a secret of the same namespace",
  }),
  key: Type.String({
    minLength: 1,
    maxLength: SECRET_KEY_MAX_LENGTH,
    pattern: SECRET_KEY_PATTERN,
    description: "Key in that secret",
  }),
});

export const SecretEnvSchema = Type.Record(Type.String(), SecretKeyRefSchema, {
  maxProperties: ENV_MAX,
  description: "Environment variables from secrets of the same namespace",
});

export const SourceDirSchema = Type.String({
  minLength: 1,
  maxLength: 1024,
  description: "Folder of the source, relative to the manifest's folder; .. is refused",
});

/** Written by sync or upload alone; a manifest that sets them is refused. */
export const S3BucketSchema = Type.String({ maxLength: 63, description: "Set by sless: bucket of the source archive" });
export const S3KeySchema = Type.String({ maxLength: 1024, description: "Set by sless: key of the source archive" });

export const ReplicasSchema = Type.Integer({
  minimum: 0,
  maximum: 100,
  default: 1,
  description: "Replicas; 0 stops it",
});

export const LocalNameSchema = Type.String({ pattern: NAME_PATTERN, maxLength: NAME_MAX_LENGTH });

export const SecretRefSchema = Type.Object(
  { name: Type.String({ minLength: 1, maxLength: SECRET_NAME_MAX_LENGTH, pattern: SECRET_NAME_PATTERN }) },
  { description: "A secret of the same namespace" },
);

export const TimeSchema = Type.String({ format: "date-time" });

export const PHASES = ["Pending", "Building", "Ready", "Failed"] as const;
