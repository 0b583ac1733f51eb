import { expandCommand, expandEnv } from "../../runtimes/index.ts";
import type { BuildRequest } from "../builder.ts";
import type { ImageSettings } from "../layer/index.ts";
import { IMAGE_PATHS } from "../plan/index.ts";

/** Nobody: functions own nothing of their image. */
const USER = "65532";

/** What an image says of itself. Nothing of the workload is in it: an equal source is an equal image. */
export function imageSettings(
  { runtime, sourceDigest }: Pick<BuildRequest, "runtime" | "sourceDigest">,
  base: { readonly name: string; readonly digest: string },
  version: string,
): ImageSettings {
  const [interpreter = ""] = runtime.interpreter.commands;
  const placeholders = { interpreter, ...IMAGE_PATHS };
  return {
    entrypoint: expandCommand(runtime.start.command, placeholders),
    workingDir: IMAGE_PATHS.source,
    user: USER,
    env: {
      ...expandEnv(runtime.start.env, placeholders),
      SLESS_SOURCE: IMAGE_PATHS.source,
      SLESS_DEPS: IMAGE_PATHS.deps,
    },
    labels: {
      "sless.kube5s.ru/source-digest": sourceDigest,
      "sless.kube5s.ru/runtime": runtime.name,
      "sless.kube5s.ru/version": version,
      "org.opencontainers.image.base.name": base.name,
      "org.opencontainers.image.base.digest": base.digest,
    },
  };
}
