import { runRoles } from "./run-roles.ts";
import type { Verb } from "./verb.ts";

export const controller: Verb = {
  name: "controller",
  endsOnSignal: true,
  summary: "Run the controllers on a cluster: sync repositories, build, run, fire cron triggers",
  examples: [{ line: "sless controller", does: "one of several replicas: one of them leads" }],
  run: (_args, _options, context) => runRoles(["controller"], context),
};
