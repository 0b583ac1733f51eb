import type { Build } from "../builds-in-flight.ts";
import { failureId } from "../handler-file.ts";
import { toImageFault } from "../registry-faults.ts";
import { type EnsureDeps, type FlightWanted, imageRefOf, originTagOf, tagOf } from "./ensure-image.ts";
import { makeImage, repositoryOf } from "./make-image.ts";

/** Makes the image of one workload, and notes how that ended. An aborted build ended in no way. */
export async function runBuild(
  build: string,
  { request, bases, wanted }: FlightWanted,
  { stop: { signal } }: Build,
  step: (name: string) => void,
  deps: Omit<EnsureDeps, "builds">,
): Promise<void> {
  const { clock, failures, logs, made, registry, renewals } = deps;
  const log = await logs.begin(build);
  const startedMs = clock.monotonicMs();
  try {
    // The one that makes it known is written last.
    const tags = [originTagOf(wanted.origin), tagOf(wanted.key)];
    const { digest, reused } = await makeImage({ key: wanted.key, request, bases, tags }, { log, signal, step }, deps);
    failures.forget(build);
    made.add(wanted.key, { repository: repositoryOf(request.workload, deps), digest });
    wanted.seenAtMs = clock.monotonicMs();
    wanted.entrypoint = request.entrypoint;
    wanted.built = {
      phase: "built",
      imageRef: imageRefOf(request.workload, digest, deps),
      builtAt: clock.now(),
      durationMs: Math.round(clock.monotonicMs() - startedMs),
      reused,
    };
  } catch (error) {
    if (!signal.aborted) {
      const fault = toImageFault(error, registry.host);
      failures.add(failureId(build, fault.code === "source_missing" ? request.entrypoint : undefined), fault);
      await log.append(Buffer.from(`sless: ${fault.happened}\n`));
    }
  }
  renewals.leave(request.workload);
  await logs.end(build);
  if (!signal.aborted) deps.kept.keep(request.workload, clock.now(), log);
}
