import {
  ANNOTATIONS,
  type Kind,
  type ObjectOf,
  refOf,
  sourceKey,
  type WorkloadKind,
  type WorkloadRef,
} from "../apis/index.ts";
import { SlessError } from "../errors/index.ts";
import type { Runtime } from "../runtimes/index.ts";
import { type OpenArchive, openArchive, packedPieces, type StoredFile } from "../source/index.ts";
import { mendObject } from "../storage/index.ts";
import { lacksSource } from "../sync/index.ts";
import { refuseFields, type UploadedSource, uploadedSource } from "../writes/index.ts";
import { type Changing, changeObject, refuseOwned } from "./change-object.ts";
import type { ServerDeps } from "./server-deps.ts";

const MIB = 1024 * 1024;
const UNPACKED_MAX_BYTES = 50 * MIB;
/** Files of an archive: of 3,000 of a source, macOS doubles each, and ignore files leave some out. */
const FILES_MAX = 10_000;

/** Beyond what may be unpacked a zip has headers and names. */
export const UPLOAD_LIMITS = {
  maxBytes: UNPACKED_MAX_BYTES + 4 * MIB,
  idleMs: 30_000,
  totalMs: 600_000,
  pace: { bytesPerSecond: 32 * 1024, afterMs: 30_000 },
};

/**
 * The files of an upload that was written to a file.
 *
 * @throws SlessError `archive_invalid`, `too_large`
 */
export function openUpload(path: string): Promise<OpenArchive> {
  return openArchive(path, { maxBytes: UNPACKED_MAX_BYTES, maxFiles: FILES_MAX });
}

type Deps = Pick<ServerDeps, "store" | "placeOf" | "objects" | "s3Bucket" | "runtimes" | "clock" | "report">;

/**
 * Makes files the source of an object: the archive is stored before the object names it. The same source again changes
 * nothing, unless a build could not read it, and neither does a refusal.
 *
 * @throws SlessError `not_found`, `conflict`, `owned_by_repository`, and what `uploadedSource` refuses
 */
export function storeUpload(changing: Changing, files: readonly StoredFile[], deps: Deps): Promise<ObjectOf<Kind>> {
  return changeObject(
    changing,
    async (live) => {
      await refuseOwned(live, deps);
      const object = live as ObjectOf<WorkloadKind>;
      const { entrypoint } = object.spec;
      const runtime = runtimeOf(object, deps.runtimes);
      const workload = refOf(object);
      const { runtimes } = deps;
      const source = await uploadedSource({ files, workload, runtime, entrypoint, runtimes });
      const key = sourceKey(workload, source.digest);
      // As long as a damaged one is there nothing is stored in its place.
      if (lacksSource(object)) await mendObject(deps.objects, key, () => packedPieces(source.files));
      else await storeArchive(workload, key, source, deps);
      const present = live.metadata.annotations?.[ANNOTATIONS.dependenciesDigest];
      if (object.spec.s3Key === key && present === source.dependenciesDigest) return undefined;
      const bucket = deps.s3Bucket === undefined ? {} : { s3Bucket: deps.s3Bucket };
      return {
        metadata: { annotations: { [ANNOTATIONS.dependenciesDigest]: source.dependenciesDigest } },
        spec: { s3Key: key, ...bucket },
      };
    },
    deps,
  );
}

function runtimeOf({ kind, spec }: ObjectOf<WorkloadKind>, runtimes: ReadonlyMap<string, Runtime>): Runtime {
  if (kind === "FunctionJob" && spec.runtime === undefined)
    refuseFields([
      { field: "function_ref", message: "is set: the job runs that function and has no source of its own" },
    ]);
  const name = spec.runtime!;
  const runtime = runtimes.get(name);
  if (runtime) return runtime;
  throw new SlessError("runtime_unknown", { runtime: name, known: [...runtimes.keys()].join(", ") });
}

async function storeArchive(object: WorkloadRef, key: string, source: UploadedSource, deps: Deps): Promise<void> {
  const started = deps.clock.monotonicMs();
  if (await deps.objects.has(key)) return;
  await deps.objects.put(key, packedPieces(source.files));
  const durationMs = deps.clock.monotonicMs() - started;
  deps.report({ step: "stored", object, sourceDigest: source.digest, durationMs });
}
