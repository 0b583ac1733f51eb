import { expect, it, onTestFinished } from "vitest";
import { keyOf, type ObjectOf } from "../../src/apis/index.ts";
import { createInformer } from "../../src/controller/index.ts";
import { SlessError } from "../../src/errors/index.ts";
import type { ResourceStore } from "../../src/resources/index.ts";
import { clusterStore } from "../support/cluster-store.ts";
import { eventually } from "../support/eventually.ts";
import { functionIntent } from "../support/function-intent.ts";
import { interruptible } from "../support/interruptible-store.ts";
import { type ControlPlane, describeOnOwnControlPlane } from "../support/kubernetes/index.ts";

type Heard = {
  readonly type: string;
  readonly key: string;
  readonly version: string;
  readonly object: ObjectOf<"Function">;
};

/** An informer of the namespace and all that it told. */
async function follow(store: Pick<ResourceStore, "list" | "watch">, namespace: string) {
  const informer = createInformer(store, "Function", { namespace, backOff: { baseMs: 20, maxMs: 200 } });
  const heard: Heard[] = [];
  informer.onEvent((type, object) => {
    heard.push({ type, key: keyOf(object), version: object.metadata.resourceVersion, object });
  });
  const abort = new AbortController();
  const ended = informer.start(abort.signal);
  onTestFinished(async () => {
    abort.abort();
    await ended;
  });
  await informer.synced();
  return { informer, heard };
}

/** Nothing is told twice, in another order, or of an object that was not told to be there. */
function expectConsistent(heard: readonly Heard[]): void {
  const present = new Map<string, bigint>();
  for (const { type, key, version } of heard) {
    const before = present.get(key);
    expect({ key, type, isThere: before !== undefined }).toEqual({ key, type, isThere: type !== "ADDED" });
    if (before !== undefined)
      expect(BigInt(version), `${type} ${key}`).toBeGreaterThanOrEqual(before + (type === "MODIFIED" ? 1n : 0n));
    if (type === "DELETED") present.delete(key);
    else present.set(key, BigInt(version));
  }
}

/** Writes without end, through every outage; `stop` resolves with the number of acknowledged writes. */
function writeOn(store: ResourceStore, namespace: string) {
  let isStopped = false;
  let acknowledged = 0;
  async function run() {
    for (let n = 0; !isStopped; n += 1) {
      const name = `f${n % 12}`;
      try {
        if (n % 7 === 6) await store.delete("Function", { namespace, name });
        else await store.apply(functionIntent(namespace, name, { replicas: n % 100 }), { owner: "sync" });
        acknowledged += 1;
      } catch (error) {
        if (!(error instanceof SlessError) || error.code !== "cluster_unavailable") throw error;
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
  }
  const running = run();
  return {
    acknowledged: () => acknowledged,
    async stop() {
      isStopped = true;
      await running;
    },
  };
}

async function expectSame(
  store: ResourceStore,
  namespace: string,
  { informer, heard }: Awaited<ReturnType<typeof follow>>,
) {
  const { items } = await store.list("Function", { namespace });
  const wanted = items.map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`).sort();
  await eventually(
    "the memory equals the store",
    () => informer.list().map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`),
    (seen) => JSON.stringify(seen.sort()) === JSON.stringify(wanted),
  );
  expectConsistent(heard);
}

describeOnOwnControlPlane("informers on an API server that comes and goes", { controllers: false }, (controlPlane) => {
  const opened = async () => ({
    store: clusterStore(controlPlane()).store,
    namespace: await controlPlane().createNamespace("follow"),
  });

  it("tells every change while nothing fails", async () => {
    const { store, namespace } = await opened();
    const following = await follow(store, namespace);
    const writer = writeOn(store, namespace);
    await eventually("it wrote", writer.acknowledged, (count) => count > 200);
    await writer.stop();
    await expectSame(store, namespace, following);
    const versions = following.heard.map(({ version }) => version);
    expect(new Set(versions).size).toBe(versions.length);
  });

  const outages: Record<string, (plane: ControlPlane) => Promise<void>> = {
    "the API server is killed and comes back": (plane) => plane.restartApiServer("SIGKILL"),
    "the API server ends in order and comes back": (plane) => plane.restartApiServer("SIGTERM"),
    "etcd is killed and comes back": async (plane) => {
      await plane.stopEtcd();
      await plane.startEtcd();
    },
  };
  it.each(Object.entries(outages))(
    "no change is missed and none told twice when %s in the middle of writes",
    async (_name, outage) => {
      const { store, namespace } = await opened();
      const following = await follow(store, namespace);
      const writer = writeOn(store, namespace);
      await eventually("it wrote", writer.acknowledged, (count) => count > 50);
      await outage(controlPlane());
      const before = writer.acknowledged();
      await eventually("it writes again", writer.acknowledged, (count) => count > before + 50);
      await writer.stop();
      await expectSame(store, namespace, following);
    },
  );

  it("a watch that broke goes on without a new list", async () => {
    const { store, namespace } = await opened();
    const { faulty, interrupt } = interruptible(store);
    let lists = 0;
    const counted: typeof faulty = {
      ...faulty,
      list(...request) {
        lists += 1;
        return faulty.list(...request);
      },
    };
    const following = await follow(counted, namespace);
    await store.create(functionIntent(namespace, "a"), { owner: "api" });
    await eventually(
      "a is told",
      () => following.heard,
      ({ length }) => length === 1,
    );
    interrupt(new SlessError("cluster_unavailable", { cause: "connection reset" }));
    await store.create(functionIntent(namespace, "b"), { owner: "api" });
    await eventually(
      "b is told",
      () => following.heard,
      ({ length }) => length === 2,
    );
    expect(lists).toBe(1);
    await expectSame(store, namespace, following);
  });
});

describeOnOwnControlPlane(
  "informers on an API server that forgets",
  { controllers: false, apiServerFlags: ["--watch-cache=false", "--etcd-compaction-interval=1s"] },
  (controlPlane) => {
    it("a watch from a version that was compacted lists again: what came and went meanwhile is told once", async () => {
      const { store } = clusterStore(controlPlane());
      const namespace = await controlPlane().createNamespace("compacted");
      for (const name of ["a", "b", "c"]) await store.create(functionIntent(namespace, name), { owner: "api" });
      const { faulty, interrupt } = interruptible(store);
      let open = Promise.withResolvers<void>();
      open.resolve();
      let from = "";
      const gated: typeof faulty = {
        ...faulty,
        async *watch(kind, options) {
          from = options.from;
          await open.promise;
          yield* faulty.watch(kind, options);
        },
      };
      const following = await follow(gated, namespace);
      await store.create(functionIntent(namespace, "d"), { owner: "api" });
      await eventually(
        "d is told",
        () => following.heard,
        ({ length }) => length === 4,
      );
      open = Promise.withResolvers();
      interrupt(new SlessError("cluster_unavailable", { cause: "connection reset" }));
      await store.delete("Function", { namespace, name: "a" });
      await store.patch("Function", { namespace, name: "b" }, { spec: { replicas: 7 } }, { owner: "api" });
      await store.create(functionIntent(namespace, "e"), { owner: "api" });
      await eventually(
        "the version is compacted",
        () => outcomeOfWatch(store, namespace, from),
        (code) => code === "conflict",
      );
      open.resolve();
      await eventually(
        "all is told",
        () => following.heard,
        ({ length }) => length >= 7,
      );
      expect(
        following.heard
          .slice(4)
          .map(({ type, object }) => `${type} ${object.metadata.name}`)
          .sort(),
      ).toEqual(["ADDED e", "DELETED a", "MODIFIED b"]);
      await expectSame(store, namespace, following);
    });
  },
);

/** The code with which a watch from there ends; "fine" when it brings something. */
async function outcomeOfWatch(store: ResourceStore, namespace: string, from: string): Promise<string> {
  const abort = new AbortController();
  try {
    for await (const _event of store.watch("Function", { namespace, from, signal: abort.signal })) return "fine";
    return "ended";
  } catch (error) {
    return (error as SlessError).code;
  } finally {
    abort.abort();
  }
}
