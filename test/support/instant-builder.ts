import { createHash } from "node:crypto";
import { imageName, type WorkloadRef } from "../../src/apis/index.ts";
import type { Builder, BuildRequest, BuildState } from "../../src/build/index.ts";

export interface InstantBuilder extends Builder {
  /** Every request so far, by its source digest. */
  readonly built: string[];
  /** From now on builds of this workload fail with the message, or succeed again. */
  fail(name: string, message: string | undefined): void;
  /** From now on images of this workload cannot be pulled, or can again. */
  misplace(name: string, isMissing: boolean): void;
}

/** A Builder whose images exist at once and hold nothing: for clusters whose pods are not run. */
export function instantBuilder(host = "registry.test"): InstantBuilder {
  const built: string[] = [];
  const failing = new Map<string, string>();
  const misplaced = new Set<string>();
  const listeners = new Set<(workload: WorkloadRef) => void>();
  const imageRefOf = ({ workload, sourceDigest, entrypoint, runtime }: BuildRequest) => {
    const key = `${runtime.name} ${sourceDigest} ${runtime.build ? entrypoint : ""}`;
    const folder = misplaced.has(workload.name) ? "missing/" : "";
    return `${host}/${folder}${imageName(workload)}@sha256:${createHash("sha256").update(key).digest("hex")}`;
  };
  return {
    built,
    fail(name, message) {
      if (message === undefined) failing.delete(name);
      else failing.set(name, message);
    },
    misplace(name, isMissing) {
      if (isMissing) misplaced.add(name);
      else misplaced.delete(name);
    },
    async ensure(request): Promise<BuildState> {
      const message = failing.get(request.workload.name);
      const failedAt = new Date(0);
      if (message !== undefined)
        return { phase: "failed", reason: "BuildFailed", message, failedAt, retryAt: new Date(Date.now() + 3_600_000) };
      if (!built.includes(request.sourceDigest)) built.push(request.sourceDigest);
      return { phase: "built", imageRef: imageRefOf(request), builtAt: new Date(0), durationMs: 0, reused: false };
    },
    has: async () => true,
    cancel: async () => undefined,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async *logs() {},
  };
}
