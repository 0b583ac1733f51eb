import type { AnyObject, ObjectOf } from "../../src/apis/index.ts";
import { claimingStore } from "../../src/garbage/claiming-store.ts";
import { createGarbage, type GarbageOptions } from "../../src/garbage/index.ts";
import type { ObjectStore } from "../../src/storage/index.ts";
import { allOf } from "../support/all-of.ts";
import { type ManualClock, manualClock } from "../support/manual-clock.ts";
import { memoryObjectStore } from "../support/memory-object-store.ts";

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

type Workload = ObjectOf<"Function"> | ObjectOf<"Service"> | ObjectOf<"FunctionJob">;

/** A store of objects as garbage reads it, in which a test writes as it likes. */
export interface Objects {
  readonly all: Workload[];
  list: GarbageOptions["store"]["list"];
}

export function objectsOf(...all: Workload[]): Objects {
  return {
    all,
    list: (async (kind: string) => ({
      items: structuredClone(all.filter((object) => object.kind === kind)),
      // As of a store: another one as soon as anything is written.
      resourceVersion: JSON.stringify(all),
    })) as never,
  };
}

interface Fields {
  readonly namespace?: string;
  /** Digest of the source that is wanted. */
  readonly wants?: string;
  /** Digest of the source that serves. */
  readonly serves?: string;
  readonly imageRef?: string;
  /** Sources and images that served, the newest first. */
  readonly history?: readonly (readonly [digest: string, imageRef: string])[];
  readonly functionRef?: string;
}

/** 64 hex digits that begin so. */
export const digest = (text: string) => text.padEnd(64, "0");
export const imageOf = (name: string, text: string) => `registry.test/sless-demo_${name}@sha256:${digest(text)}`;

export function workload(kind: Workload["kind"], name: string, fields: Fields = {}): Workload {
  const { namespace = "demo", wants, serves, imageRef, history = [], functionRef } = fields;
  const folder = kind === "FunctionJob" ? "jobs" : "functions";
  const object = {
    apiVersion: "sless.kube5s.ru/v1alpha1",
    kind,
    metadata: { namespace, name, uid: "u", resourceVersion: "1", generation: 1, creationTimestamp: "" },
    spec: {
      ...(functionRef ? { functionRef } : { runtime: "python3.11" }),
      ...(wants ? { s3Key: `${folder}/${namespace}/${name}/${digest(wants)}.zip` } : {}),
    },
    status: {
      ...(serves ? { sourceDigest: digest(serves) } : {}),
      ...(imageRef ? { imageRef } : {}),
      ...(history.length > 0
        ? {
            history: history.map(([source, image], index) => ({
              number: history.length - index,
              sourceDigest: digest(source),
              imageRef: image,
              servedAt: "",
            })),
          }
        : {}),
    },
  };
  return object as AnyObject as Workload;
}

export interface GarbageWorld {
  readonly clock: ManualClock;
  readonly objects: Objects;
  /** The store itself. */
  readonly stored: ObjectStore;
  /** As those who store sources have it. */
  readonly claiming: ObjectStore;
  put(...keys: string[]): Promise<void>;
  /** Keys of things. */
  keys(): Promise<string[]>;
  marks(): Promise<string[]>;
  collect(options?: { dryRun?: boolean }): ReturnType<ReturnType<typeof createGarbage>["collect"]>;
}

/** Garbage over an object store in memory and objects that a test writes; time stands still until it is moved. */
export function garbageWorld(
  options: Partial<GarbageOptions> & { workloads?: readonly Workload[] } = {},
): GarbageWorld {
  const clock = manualClock();
  const objects = objectsOf(...(options.workloads ?? []));
  const stored = options.objects ?? memoryObjectStore({}, clock.now);
  const claiming = claimingStore(stored, clock);
  const log = { info: () => undefined, warn: () => undefined };
  const garbage = createGarbage({ store: objects, running: async () => [], clock, log, ...options, objects: stored });
  return {
    clock,
    objects,
    stored,
    claiming,
    async put(...keys) {
      for (const key of keys) await stored.put(key, new TextEncoder().encode(key));
    },
    keys: async () => (await allOf(stored.list(""))).filter((key) => !key.startsWith("garbage/")),
    marks: async () => allOf(stored.list("garbage/marks/")),
    collect: ({ dryRun = false } = {}) => garbage.collect({ dryRun }),
  };
}

export const source = (name: string, text: string, namespace = "demo") =>
  `functions/${namespace}/${name}/${digest(text)}.zip`;
