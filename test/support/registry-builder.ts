import { imageName, type WorkloadRef } from "../../src/apis/index.ts";
import type { Builder, BuildRequest, BuildState } from "../../src/build/index.ts";
import type { TimerClock } from "../../src/controller/index.ts";
import type { RegistryClient } from "../../src/registry/index.ts";

const LOOK_EVERY_MS = 500;

/**
 * A Builder that makes nothing: an image is built as soon as somebody has pushed it as
 * `{registry}/sless-{ns}_{name}:{sourceDigest}`. Until then it says that it builds.
 */
export function registryBuilder(registry: RegistryClient, clock: TimerClock): Builder {
  const listeners = new Set<(workload: WorkloadRef) => void>();
  const awaited = new Map<string, { readonly startedAt: Date; readonly stop: () => void }>();

  const digestOf = ({ workload, sourceDigest }: BuildRequest) =>
    registry.manifestDigest(imageName(workload), sourceDigest);

  function lookLater(request: BuildRequest): () => void {
    return clock.setTimer(LOOK_EVERY_MS, async () => {
      const digest = await digestOf(request).catch(() => undefined);
      if (!awaited.has(imageName(request.workload))) return;
      if (digest === undefined) awaitImage(request);
      else for (const listener of listeners) listener(request.workload);
    });
  }

  function awaitImage(request: BuildRequest): Date {
    const name = imageName(request.workload);
    const before = awaited.get(name);
    before?.stop();
    const startedAt = before?.startedAt ?? clock.now();
    awaited.set(name, { startedAt, stop: lookLater(request) });
    return startedAt;
  }

  function forget(workload: WorkloadRef): void {
    awaited.get(imageName(workload))?.stop();
    awaited.delete(imageName(workload));
  }

  return {
    async ensure(request): Promise<BuildState> {
      const digest = await digestOf(request);
      if (digest === undefined)
        return { phase: "building", startedAt: awaitImage(request), step: "waiting for somebody to push the image" };
      forget(request.workload);
      const imageRef = `${registry.host}/${imageName(request.workload)}@${digest}`;
      return { phase: "built", imageRef, builtAt: clock.now(), durationMs: 0, reused: true };
    },
    async has(imageRef) {
      const [name = "", digest = ""] = imageRef.slice(imageRef.indexOf("/") + 1).split("@");
      return (await registry.manifestDigest(name, digest)) !== undefined;
    },
    async cancel(workload) {
      forget(workload);
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async *logs() {
      yield new TextEncoder().encode("images are pushed by hand\n");
    },
  };
}
