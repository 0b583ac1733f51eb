import { say } from "./io.ts";
import { serialized } from "./output.ts";
import type { Verb } from "./verb.ts";

interface VersionOptions {
  readonly output?: "json" | "yaml";
}

export const version: Verb<VersionOptions> = {
  name: "version",
  summary: "Print the version of sless and of the Node it runs on",
  options: [{ flags: "-o, --output <form>", description: "another form", choices: ["json", "yaml"] }],
  examples: [{ line: "sless version", does: "for a bug report" }],
  async run(_args, { output }, { io, deps }) {
    const node = process.versions.node;
    if (output) io.stdout.write(serialized({ version: deps.version, node }, output));
    else say(io.stdout, `sless ${deps.version} (node ${node})`);
    return 0;
  },
};
