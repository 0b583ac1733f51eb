import { runRoles } from "./run-roles.ts";
import type { Verb } from "./verb.ts";

export const gateway: Verb = {
  name: "gateway",
  endsOnSignal: true,
  summary: "Serve functions on a cluster, at /fn/{namespace}/{name}",
  examples: [{ line: "sless gateway", does: "of the cluster that KUBECONFIG names, or in a pod" }],
  run: (_args, _options, context) => runRoles(["gateway"], context),
};
