// A candidate in a process of its own: `node lease-candidate.ts <kubeconfig> <namespace> <identity>`.
import { endProcess } from "../../src/cli/index.ts";
import { startLeaderElection, systemClock } from "../../src/controller/index.ts";
import { kubernetesLease, openKubernetesClient } from "../../src/kubernetes/index.ts";

const [, , file = "", namespace = "", identity = ""] = process.argv;
const election = startLeaderElection({
  identity,
  store: kubernetesLease(openKubernetesClient({ from: { file } }), { namespace, name: "sless-controller" }),
  clock: systemClock,
  // A busy machine must not miss them.
  times: { leaseMs: 8_000, renewDeadlineMs: 7_000, retryMs: 300 },
  onStartedLeading(signal) {
    process.stdout.write("leading\n");
    return new Promise((resolve) => signal.addEventListener("abort", () => resolve()));
  },
});
process.on("SIGTERM", () => void election.stop().then(() => endProcess(0)));
