import { say } from "./io.ts";
import type { Verb } from "./verb.ts";

export const version: Verb = {
  name: "version",
  summary: "Print the version of sless and of the Node it runs on",
  examples: [{ line: "sless version", does: "for a bug report" }],
  async run(_args, _options, { io, deps }) {
    say(io.stdout, `sless ${deps.version} (node ${process.versions.node})`);
    return 0;
  },
};
