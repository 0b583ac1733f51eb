import type { V1JobSpec } from "@kubernetes/client-node";
import { deployNamespaceOf } from "../../apis/index.ts";
import type { JobRun } from "../platform.ts";
import { MESSAGE_MAX_BYTES, RESULT_MAX_BYTES } from "../truncate-message.ts";
import { containerEnv } from "./container-env.ts";
import { type Manifest, sealed } from "./manifest.ts";
import { CHILD_ANNOTATIONS, jobNameOf, labelsOf } from "./names.ts";
import { type BuildContext, podSpec } from "./pod-spec.ts";
import { EVENT_KEY } from "./secrets.ts";

export interface JobManifest extends Manifest {
  spec: V1JobSpec;
}

const INPUT_FOLDER = "/run/sless";
/** For the runtime to end what is late by itself, and to say so. */
const LATE_SEC = 10;

/**
 * The Job of one run. It is never tried again: a run may have done a part of its work. `context.envSecret` holds its
 * event too.
 */
export function jobOf({ spec, runID, eventJSON }: JobRun, context: BuildContext): JobManifest {
  const { settings, envSecret } = context;
  const { workload, timeoutSec } = spec;
  const hasEvent = eventJSON !== undefined && envSecret !== undefined;
  const env = containerEnv(spec, envSecret, {
    SLESS_JOB: "1",
    // The kubelet puts this file into the status of the pod.
    SLESS_RESULT_FILE: "/dev/termination-log",
    SLESS_RESULT_MAX: String(MESSAGE_MAX_BYTES),
    SLESS_RESULT_COPY: String(RESULT_MAX_BYTES),
    ...(hasEvent ? { SLESS_EVENT_FILE: `${INPUT_FOLDER}/${EVENT_KEY}` } : {}),
  });
  return sealed({
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: {
      name: jobNameOf(workload, runID),
      namespace: deployNamespaceOf(workload.namespace),
      labels: labelsOf(workload),
      annotations: { [CHILD_ANNOTATIONS.sourceDigest]: spec.sourceDigest },
    },
    spec: {
      backoffLimit: 0,
      completions: 1,
      parallelism: 1,
      ttlSecondsAfterFinished: settings.jobKeptSec,
      ...(timeoutSec > 0 ? { activeDeadlineSeconds: timeoutSec + settings.jobStartSec + LATE_SEC } : {}),
      template: {
        metadata: { labels: labelsOf(workload) },
        spec: podSpec(spec, context, {
          env,
          container: hasEvent ? { volumeMounts: [{ name: "input", mountPath: INPUT_FOLDER, readOnly: true }] } : {},
          pod: {
            restartPolicy: "Never",
            ...(hasEvent ? { volumes: [inputVolume(envSecret)] } : {}),
          },
        }),
      },
    },
  });
}

function inputVolume(secretName: string) {
  return { name: "input", secret: { secretName, items: [{ key: EVENT_KEY, path: EVENT_KEY }] } };
}
