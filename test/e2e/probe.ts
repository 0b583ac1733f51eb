import { API_RESOURCES, type ApiObject, apiPath } from "../../src/kubernetes/index.ts";
import { eventually } from "../support/eventually.ts";
import { kubectl } from "../support/kubectl.ts";
import type { E2eCluster } from "./open-cluster.ts";

/** An address and a TCP port. Port 0: a name, which is only looked up. */
export type Place = readonly [address: string, port: number];

/** What is reached, by the names of the places. */
export type Reached = Readonly<Record<string, boolean>>;

const PROBE = `import json
import socket
from concurrent.futures import ThreadPoolExecutor


def reached(place):
    address, port = place
    try:
        if port == 0:
            socket.getaddrinfo(address, 443)
        else:
            socket.create_connection((address, port), timeout=3).close()
        return True
    except OSError:
        return False


def probe(places):
    with ThreadPoolExecutor(len(places)) as pool:
        return dict(zip(places, pool.map(reached, places.values())))
`;

/** Files of a function that tells what of `event.places` it reaches. */
export const PROBER_FILES: Readonly<Record<string, string>> = {
  "function.yaml": `apiVersion: sless.kube5s.ru/v1alpha1
kind: Function
metadata: {name: prober}
spec: {runtime: python3.11, memoryMB: 128, timeoutSec: 60}
---
apiVersion: sless.kube5s.ru/v1alpha1
kind: Trigger
metadata: {name: prober-http}
spec: {type: http, functionRef: prober}
`,
  "handler.py": `${PROBE}\n\ndef handle(event, context):\n    return probe(event["places"])\n`,
};

interface PodObject extends ApiObject {
  readonly status?: {
    readonly podIP?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

export interface ProbingPod {
  readonly address: string;
  probe(places: Readonly<Record<string, Place>>): Promise<Reached>;
}

/** A pod that is no function. It listens on port 8080. */
export async function runProbingPod(
  cluster: E2eCluster,
  metadata: { readonly namespace: string; readonly name: string; readonly labels?: Readonly<Record<string, string>> },
): Promise<ProbingPod> {
  const { namespace, name } = metadata;
  await cluster.apply("Pod", {
    metadata,
    spec: {
      terminationGracePeriodSeconds: 0,
      automountServiceAccountToken: false,
      containers: [
        { name: "probe", image: "python:3.11-slim", command: ["python3", "-m", "http.server", "8080", "-d", "/tmp"] },
      ],
    },
  });
  const path = apiPath(API_RESOURCES.Pod, { namespace, name });
  const isReady = (pod: PodObject | undefined) =>
    pod?.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;
  const pod = await eventually(`pod ${name} runs`, () => cluster.get<PodObject>(path), isReady, 120_000);
  return {
    address: pod!.status!.podIP!,
    async probe(places) {
      const code = `${PROBE}\nprint(json.dumps(probe(json.loads(${JSON.stringify(JSON.stringify(places))}))))\n`;
      const command = ["exec", "--stdin", "--namespace", namespace, name, "--", "python3", "-"];
      return JSON.parse(await kubectl(cluster.settings.kubeconfig, command, code)) as Reached;
    },
  };
}
