import { stringify } from "yaml";

/**
 * What becomes of a pod, told by a word in the image of its first container (see `TestCluster`). kwok takes the first
 * stage whose conditions, jq over the object, all hold, and merges its template into the status.
 */
type Outcome = "missing" | "crashing" | "unready" | "failing" | "fine";

const OUTCOME = `
  (.spec.containers[0].image) as $image
  | any(.metadata.ownerReferences[]?; .kind == "Job") as $isJob
  | if $image | contains("missing") then "missing"
    elif $image | contains("unready") then "unready"
    elif $image | contains("crashing") then (if $isJob then "failing" else "crashing" end)
    elif $image | contains("failing") then (if $isJob then "failing" else "fine" end)
    else "fine" end`;
const IS_JOB = `any(.metadata.ownerReferences[]?; .kind == "Job")`;

interface Condition {
  readonly key: string;
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
  readonly values?: readonly string[];
}

const isAmong = (key: string, ...values: string[]): Condition => ({ key, operator: "In", values });
const outcome = (...outcomes: Outcome[]) => isAmong(OUTCOME, ...outcomes);
const inPhase = (phase: string) => isAmong(".status.phase", phase);
const isNew: Condition = { key: ".status.containerStatuses[0].state", operator: "DoesNotExist" };
const isThere: Condition = { key: ".metadata.deletionTimestamp", operator: "DoesNotExist" };

function podStage(name: string, conditions: readonly Condition[], statusTemplate: string) {
  return stage(name, "Pod", [isThere, ...conditions], { statusTemplate });
}

function stage(name: string, kind: "Node" | "Pod", conditions: readonly Condition[], next: object) {
  return {
    apiVersion: "kwok.x-k8s.io/v1alpha1",
    kind: "Stage",
    metadata: { name },
    spec: { resourceRef: { apiGroup: "v1", kind }, selector: { matchExpressions: conditions }, next },
  };
}

const NOW = "{{ $now := Now }}";

function podConditions(ready: boolean, reason = ""): string {
  const row = (type: string, holds: boolean) =>
    `- {type: ${type}, status: "${holds ? "True" : "False"}", lastTransitionTime: {{ $now | Quote }}${holds ? "" : `, reason: ${reason}`}}`;
  return ["conditions:", row("Initialized", true), row("Ready", ready), row("ContainersReady", ready)].join("\n");
}

function containers(ready: boolean, state: string, rest = "restartCount: 0"): string {
  return `containerStatuses:
{{ range .spec.containers }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  ready: ${ready}
  ${rest}
  state: {${state}}
{{ end }}`;
}

const ADDRESSES = `hostIP: {{ NodeIPWith .spec.nodeName | Quote }}
podIP: {{ PodIPWith .spec.nodeName ( or .spec.hostNetwork false ) ( or .metadata.uid "" ) ( or .metadata.name "" ) ( or .metadata.namespace "" ) | Quote }}
startTime: {{ $now | Quote }}`;

const RUNNING = "running: {startedAt: {{ $now | Quote }}}";

/** A kubelet keeps the end of a longer message. */
const MESSAGE_BYTES = 4_096;

function ended(phase: "Succeeded" | "Failed", exitCode: number, reason: string, message: string): string {
  const state = `terminated: {exitCode: ${exitCode}, reason: ${reason}, message: {{ trunc -${MESSAGE_BYTES} $message | Quote }}, startedAt: {{ $now | Quote }}, finishedAt: {{ $now | Quote }}}`;
  return `${NOW}
{{ $message := "${message}" }}
{{ range (index .spec.containers 0).env }}{{ if eq .name "TEST_RESULT" }}{{ $message = .value }}{{ end }}{{ end }}
${podConditions(false, phase === "Failed" ? "PodFailed" : "PodCompleted")}
${containers(false, state)}
phase: ${phase}`;
}

const CRASHED = `restartCount: 3
  lastState: {terminated: {exitCode: 1, reason: Error, startedAt: {{ $now | Quote }}, finishedAt: {{ $now | Quote }}}}`;

const POD_STAGES = [
  podStage(
    "pod-runs",
    [inPhase("Pending"), isNew, outcome("fine", "failing")],
    [NOW, podConditions(true), containers(true, RUNNING), ADDRESSES, "phase: Running"].join("\n"),
  ),
  podStage(
    "pod-is-never-ready",
    [inPhase("Pending"), isNew, outcome("unready")],
    [NOW, podConditions(false, "ContainersNotReady"), containers(false, RUNNING), ADDRESSES, "phase: Running"].join(
      "\n",
    ),
  ),
  podStage(
    "pod-has-no-image",
    [inPhase("Pending"), isNew, outcome("missing")],
    [
      NOW,
      podConditions(false, "ContainersNotReady"),
      containers(
        false,
        'waiting: {reason: ImagePullBackOff, message: {{ printf "Back-off pulling image %q" .image | Quote }}}',
      ),
      ADDRESSES,
      "phase: Pending",
    ].join("\n"),
  ),
  podStage(
    "pod-crashes",
    [inPhase("Pending"), isNew, outcome("crashing")],
    [
      NOW,
      podConditions(false, "ContainersNotReady"),
      containers(
        false,
        'waiting: {reason: CrashLoopBackOff, message: "back-off 40s restarting failed container"}',
        CRASHED,
      ),
      ADDRESSES,
      "phase: Running",
    ].join("\n"),
  ),
  podStage(
    "job-succeeds",
    [inPhase("Running"), isAmong(IS_JOB, "true"), outcome("fine")],
    ended("Succeeded", 0, "Completed", "done"),
  ),
  podStage(
    "job-fails",
    [inPhase("Running"), isAmong(IS_JOB, "true"), outcome("failing")],
    ended("Failed", 1, "Error", "failed"),
  ),
  stage("pod-goes", "Pod", [{ key: ".metadata.deletionTimestamp", operator: "Exists" }], { delete: true }),
];

const NODE_STATUS = `${NOW}
phase: Running
addresses:
- {type: InternalIP, address: {{ NodeIP | Quote }}}
daemonEndpoints: {kubeletEndpoint: {Port: {{ NodePort }}}}
conditions:
{{ range NodeConditions }}
- {type: {{ .type | Quote }}, status: {{ .status | Quote }}, reason: {{ .reason | Quote }}, message: {{ .message | Quote }}, lastHeartbeatTime: {{ $now | Quote }}, lastTransitionTime: {{ $now | Quote }}}
{{ end }}`;

const NODE_STAGES = [
  stage("node-is-ready", "Node", [{ key: ".status.phase", operator: "NotIn", values: ["Running"] }], {
    statusTemplate: NODE_STATUS,
  }),
];

/** kwok's configuration file. */
export function stagesFile(): string {
  return [...NODE_STAGES, ...POD_STAGES].map((document) => stringify(document, { lineWidth: 0 })).join("---\n");
}
