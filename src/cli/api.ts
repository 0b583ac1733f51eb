import { runRoles } from "./run-roles.ts";
import type { Verb } from "./verb.ts";

export const api: Verb = {
  name: "api",
  endsOnSignal: true,
  summary: "Serve the REST API on a cluster; RBAC decides who may do what",
  examples: [{ line: "sless api", does: "of the cluster that KUBECONFIG names, or in a pod" }],
  run: (_args, _options, context) => runRoles(["api"], context),
};
