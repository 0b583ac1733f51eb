import { onTestFinished } from "vitest";
import {
  type Kind,
  type ObjectKey,
  type ObjectOf,
  refText,
  sourceKey,
  type WorkloadRef,
} from "../../src/apis/index.ts";
import type { Builder, BuildState } from "../../src/build/index.ts";
import { systemClock } from "../../src/controller/index.ts";
import type { Platform, WorkloadState } from "../../src/platform/index.ts";
import { createObjectInformers, type ReconcilersDeps, startReconcilers } from "../../src/reconcilers/index.ts";
import type { ResourceStore } from "../../src/resources/index.ts";
import { eventually } from "../support/eventually.ts";
import { fakePlatform } from "../support/fake-platform.ts";
import { runtimes } from "../support/function-files.ts";

export const KEY: ObjectKey = { namespace: "demo", name: "hello" };
const DIGEST = "0".repeat(64);

/** What builder, platform and store were asked for, in order: `build Function/demo/hello`. */
export interface ReconcilersWorld {
  readonly asked: string[];
  /** Changed by tests to let a clean-up fail. */
  readonly faults: { remove?: () => Promise<void> };
  /** What the platform keeps, as after a kill. */
  readonly kept: WorkloadRef[];
  start(): Promise<{ stop(): Promise<void>; idle(): Promise<void> }>;
}

type Options = Pick<ReconcilersDeps, "routes" | "isGone" | "prepareStopped"> & {
  /** Where builds stand; default: every image is there. */
  readonly buildState?: () => BuildState;
  /** Asked of the builder for every image; default: it is there. */
  readonly hasImage?: () => Promise<boolean>;
  /** Why what is run does not start; default: it does. */
  readonly failure?: WorkloadState["failure"];
  /** What the platform knows of everything; default: nothing serves. */
  readonly platformState?: () => WorkloadState;
};

const IMAGE = { imageRef: "image@sha256:1", builtAt: new Date(0), durationMs: 1, reused: true };
const BUILT: BuildState = { phase: "built", ...IMAGE };

/** Reconcilers over a store, with a builder that has every image and a platform that runs nothing. */
export function reconcilersWorld(store: ResourceStore, options: Options = {}): ReconcilersWorld {
  const { buildState = () => BUILT, hasImage = async () => true, failure, platformState, ...others } = options;
  const asked: string[] = [];
  const faults: ReconcilersWorld["faults"] = {};
  const kept: WorkloadRef[] = [];
  const note = (what: string, ref: WorkloadRef) => void asked.push(`${what} ${refText(ref)}`);
  const builder: Builder = {
    async ensure({ workload }) {
      note("build", workload);
      return buildState();
    },
    async has(imageRef) {
      asked.push(`has ${imageRef}`);
      return hasImage();
    },
    cancel: async (ref) => note("cancel", ref),
    onChange: () => () => undefined,
    async *logs() {},
  };
  const platform: Platform = {
    ...fakePlatform(),
    ...(platformState && { state: async () => platformState() }),
    async apply({ workload }) {
      note("run", workload);
      if (failure) return { serving: 0, current: false, failure };
      return { serving: 1, current: true, servingImageRef: "image@sha256:1", servingSourceDigest: DIGEST };
    },
    async remove(ref) {
      await faults.remove?.();
      note("remove", ref);
    },
    list: async () => kept,
  };
  return { asked, faults, kept, start: () => start(recording(store, asked), { builder, platform, ...others }) };
}

type Ports = Pick<ReconcilersDeps, "builder" | "platform" | "routes" | "isGone" | "prepareStopped">;

async function start(store: ResourceStore, ports: Ports) {
  const log = { debug: () => {}, warn: () => {}, error: () => {} };
  const informers = createObjectInformers(store, log);
  const watching = new AbortController();
  await informers.start(watching.signal);
  const reconcilers = await startReconcilers({
    ...ports,
    store,
    informers,
    runtimes,
    clock: systemClock,
    report: () => undefined,
    log,
    urlOf: ({ name }) => `http://localhost/fn/demo/${name}`,
  });
  const stop = async () => {
    watching.abort();
    await reconcilers.stop();
  };
  onTestFinished(stop);
  return { ...reconcilers, stop };
}

function recording(store: ResourceStore, asked: string[]): ResourceStore {
  return {
    ...store,
    async patch(kind, key, patch, options) {
      const patched = await store.patch(kind, key, patch, options);
      asked.push(`patch ${refText({ kind, ...key })}`);
      return patched;
    },
  };
}

/** A function with a source, as kubectl makes it unless `finalizers` are given. */
export function createFunction(store: ResourceStore, finalizers?: string[]): Promise<ObjectOf<"Function">> {
  const s3Key = sourceKey({ kind: "Function", ...KEY }, DIGEST);
  const metadata = { ...KEY, ...(finalizers && { finalizers }) };
  return store.create({ kind: "Function", metadata, spec: { runtime: "python3.11", s3Key } }, { owner: "api" });
}

export function untilGone(store: ResourceStore, kind: Kind, key: ObjectKey = KEY): Promise<unknown> {
  return eventually(
    `${kind} ${key.name} is gone`,
    () => store.get(kind, key),
    (seen) => seen === undefined,
  );
}

export function untilReady(store: ResourceStore, uid: string): Promise<unknown> {
  return eventually(
    "the function is ready",
    () => store.get("Function", KEY),
    (seen) => seen?.metadata.uid === uid && seen.status?.phase === "Ready",
  );
}
