import { resolve } from "node:path";
import type { Verb } from "./verb.ts";

interface FetchOptions {
  readonly url: string;
  readonly to: string;
}

/** The first step of a build Job whose object store has no TLS: image builders do not fetch from such. */
export const fetchContext: Verb<FetchOptions> = {
  name: "fetch-context",
  summary: "Fetch the files of a build",
  hidden: true,
  options: [
    { flags: "--url <url>", description: "presigned address", required: true },
    { flags: "--to <file>", description: "path of the file", required: true },
  ],
  examples: [{ line: "sless fetch-context --url http://… --to /context/context.tar.gz", does: "before a build" }],
  async run(_args, { url, to }, { io, deps }) {
    await deps.buildSteps.fetchContext({ url, to: resolve(io.cwd, to) });
    return 0;
  },
};
