import { ROLES } from "./cluster-app.ts";
import { runRoles } from "./run-roles.ts";
import type { Verb } from "./verb.ts";

export const serve: Verb = {
  name: "serve",
  endsOnSignal: true,
  summary: "Run controller, API and gateway of a cluster in one process",
  examples: [{ line: "sless serve", does: "all of sless for a small cluster" }],
  run: (_args, _options, context) => runRoles(ROLES, context),
};
