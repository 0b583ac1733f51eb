import { isDeepStrictEqual } from "node:util";
import {
  imageName,
  type ObjectOf,
  refOf,
  refText,
  sourceDigestOfKey,
  sourceKey,
  sourceKeyPrefix,
  type WorkloadRef,
} from "../apis/index.ts";
import type { ResourceStore } from "../resources/index.ts";

/** Who refers to things: texts for people by what is referred to. */
export interface References {
  /** By keys of the object store. */
  readonly keys: ReadonlyMap<string, string>;
  /** By digests of images (`sha256:<hex>`), in whatever repository. */
  readonly images: ReadonlyMap<string, string>;
  /** Digests of the sources that workloads want now, by the names of their images. */
  readonly sources: ReadonlyMap<string, ReadonlySet<string>>;
  /** Images that serve or ran last. */
  readonly serving: readonly string[];
  /** Beginnings of the keys of all workloads' sources. */
  readonly folders: ReadonlySet<string>;
  /** Names of the images of all workloads. */
  readonly imageNames: ReadonlySet<string>;
}

type Workload = ObjectOf<"Function"> | ObjectOf<"Service"> | ObjectOf<"FunctionJob">;

/** @param running images of what runs at this moment, by digest (`…@sha256:<hex>`) */
export function referencesOf(workloads: readonly Workload[], running: Iterable<string> = []): References {
  const keys = new Map<string, string>();
  const images = new Map<string, string>();
  const sources = new Map<string, Set<string>>();
  const serving: string[] = [];
  const folders = new Set<string>();
  const note = (to: Map<string, string>, what: string | undefined, who: string) =>
    what !== undefined && !to.has(what) && to.set(what, who);
  const wants = (ref: WorkloadRef, digest: string | undefined) => {
    const wanted = sources.get(imageName(ref)) ?? new Set();
    sources.set(imageName(ref), digest === undefined ? wanted : wanted.add(digest));
  };
  for (const object of workloads) {
    const ref = refOf(object) as WorkloadRef;
    const who = refText(ref);
    folders.add(sourceKeyPrefix(ref));
    note(keys, object.spec.s3Key, `${who} has it as its source`);
    wants(ref, sourceDigestOfKey(ref, object.spec.s3Key));
    note(images, digestIn(object.status?.imageRef), `${who} runs it`);
    if (object.status?.imageRef !== undefined) serving.push(object.status.imageRef);
    if (object.kind === "FunctionJob") continue;
    const { sourceDigest, history = [] } = object.status ?? {};
    if (sourceDigest !== undefined) note(keys, sourceKey(ref, sourceDigest), `${who} serves it`);
    for (const { number, sourceDigest: source, imageRef } of history) {
      note(keys, sourceKey(ref, source), `${who} can be rolled back to number ${number}`);
      note(images, digestIn(imageRef), `${who} can be rolled back to number ${number}`);
    }
  }
  for (const job of workloads) {
    if (job.kind !== "FunctionJob" || job.spec.functionRef === undefined) continue;
    // Its image is one of its own, of the function's source.
    const of: WorkloadRef = { kind: "Function", namespace: job.metadata.namespace, name: job.spec.functionRef };
    for (const digest of sources.get(imageName(of)) ?? []) wants(refOf(job) as WorkloadRef, digest);
  }
  for (const imageRef of running) note(images, digestIn(imageRef), "a pod or process runs it");
  return { keys, images, sources, serving, folders, imageNames: new Set(sources.keys()) };
}

/** `sha256:<hex>` of a reference by digest. */
export function digestIn(imageRef: string | undefined): string | undefined {
  return /@(sha256:[0-9a-f]{64})$/.exec(imageRef ?? "")?.[1];
}

export interface ReferenceReads {
  /** Of all namespaces; what it answers must not be older than what was written before it was asked: no cache. */
  readonly store: Pick<ResourceStore, "list">;
  /** Images of what runs at this moment, whatever the objects say. */
  readonly running: () => Promise<Iterable<string>>;
  /** What was read last: taken as it is where everything it was made of is the same. */
  readonly lastRead?: { made?: MadeReferences };
}

interface MadeReferences {
  /** Versions of the lists, which differ as soon as anything in them was written, and images of what ran. */
  readonly of: readonly string[];
  readonly references: References;
}

/** @throws SlessError when not all of them can be read */
export async function readReferences({ store, running, lastRead = {} }: ReferenceReads): Promise<References> {
  const runs = [...(await running())];
  const lists = await Promise.all([store.list("Function"), store.list("Service"), store.list("FunctionJob")]);
  const of = [...lists.map(({ resourceVersion }) => resourceVersion), ...runs];
  if (lastRead.made && isDeepStrictEqual(lastRead.made.of, of)) return lastRead.made.references;
  const references = referencesOf(
    lists.flatMap(({ items }) => items as Workload[]),
    runs,
  );
  lastRead.made = { of, references };
  return references;
}
