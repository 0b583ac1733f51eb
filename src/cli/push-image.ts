import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { say } from "./io.ts";
import type { Verb } from "./verb.ts";

interface PushOptions {
  readonly layout: string;
  readonly destination: string;
  readonly plainHttp?: boolean;
  readonly dockerConfig?: string;
  readonly mountFrom?: readonly string[];
  readonly report?: string;
}

/** The last step of a build Job: it alone holds what the registry asks for, and runs nothing of a user. */
export const pushImage: Verb<PushOptions> = {
  name: "push-image",
  summary: "Push an image from an OCI layout and print its digest",
  hidden: true,
  options: [
    { flags: "--layout <folder>", description: "OCI layout with one image", required: true },
    { flags: "--destination <image>", description: "host/repository:tag", required: true },
    { flags: "--plain-http", description: "the registry has no TLS" },
    { flags: "--docker-config <file>", description: "Docker config.json with its credentials" },
    { flags: "--mount-from <repository>", description: "may have layers of it already", repeated: true },
    { flags: "--report <file>", description: "write the digest there too" },
  ],
  examples: [
    {
      line: "sless push-image --layout /out --destination registry.example.org/deps:1",
      does: "what was built without credentials is pushed",
    },
  ],
  async run(_args, { layout, destination, plainHttp = false, dockerConfig, mountFrom = [], report }, { io, deps }) {
    const at = (path: string) => resolve(io.cwd, path);
    const digest = await deps.buildSteps.pushImage({
      layout: at(layout),
      destination,
      plainHttp,
      dockerConfig: dockerConfig === undefined ? undefined : at(dockerConfig),
      mountFrom,
    });
    say(io.stdout, digest);
    if (report !== undefined) await writeFile(at(report), digest);
    return 0;
  },
};
