import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { cachedStore, systemClock } from "../../src/controller/index.ts";
import type { SentRequest } from "../../src/kubernetes/index.ts";
import { createObjectInformers } from "../../src/reconcilers/index.ts";
import { findGit } from "../../src/source/index.ts";
import { openNativeReader } from "../../src/source/native/index.ts";
import { openFilesystemStore } from "../../src/storage/filesystem/index.ts";
import { createSyncController } from "../../src/sync/index.ts";
import { clusterStore } from "../support/cluster-store.ts";
import { eventually } from "../support/eventually.ts";
import { runtimes } from "../support/function-files.ts";
import { gitRepository } from "../support/git-repository.ts";
import { describeOnOwnControlPlane, type TestCluster } from "../support/kubernetes/index.ts";
import { refuseObjects } from "../support/kubernetes/refuse-objects.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const NAMES = ["a", "b", "c", "d", "e", "f"];
const manifest = (name: string, memoryMB = 128) =>
  `apiVersion: sless.kube5s.ru/v1alpha1\nkind: Function\nmetadata: {name: ${name}}\nspec: {runtime: python3.11, memoryMB: ${memoryMB}, replicas: 0}\n`;
const FILES = Object.fromEntries(
  NAMES.flatMap((name) => [
    [`${name}/function.yaml`, manifest(name)],
    [`${name}/handler.py`, `def handle(event, context):\n    return "${name}"\n`],
  ]),
);
const GROUP = "/apis/sless.kube5s.ru/v1alpha1";
interface ManagedFields {
  readonly manager: string;
  readonly fieldsV1: object;
}
const quiet = { debug() {}, warn() {}, error() {} };

// Of its own: a controller reads all namespaces, and those of other tests are none of its business.
describeOnOwnControlPlane("a sync on an API server", { controllers: false }, (plane) => {
  async function opened() {
    const sent: SentRequest[] = [];
    const { store } = clusterStore(plane(), { onSent: (request) => sent.push(request) });
    const namespace = await plane().createNamespace("sync");
    const git = await gitRepository(FILES);
    const informers = createObjectInformers(store, quiet);
    const watching = new AbortController();
    await informers.start(watching.signal);
    const native = (await findGit(process.env.PATH))!;
    const sync = createSyncController({
      store: cachedStore(store, {
        Function: informers.functions,
        Service: informers.services,
        Trigger: informers.triggers,
        FunctionJob: informers.jobs,
        Repository: informers.repositories,
      }),
      informers,
      objects: await openFilesystemStore(join(await temporaryFolder(), "objects")),
      openGit: () => openNativeReader({ repository: git.dir, git: native }),
      runtimes,
      clock: systemClock,
      report: () => {},
    });
    onTestFinished(async () => {
      await sync.stop();
      await store.patch("Repository", { namespace, name: "site" }, { metadata: { finalizers: [] } }, { owner: "sync" });
      await store.delete("Repository", { namespace, name: "site" });
      watching.abort();
    });
    const key = { namespace, name: "site" };
    const spec = { url: "https://example.com/site.git", interval: "1h" };
    await store.apply({ kind: "Repository", metadata: key, spec }, { owner: "api" });
    const status = () => informers.repositories.get(key)?.status;
    return {
      store,
      namespace,
      git,
      status,
      async settled(revision: string) {
        await eventually("it is told", status, (told) => told?.lastAttemptedRevision?.endsWith(revision) === true);
        await sync.idle();
      },
      async hint() {
        sync.hint(key);
        await sync.idle();
      },
      /** Writes and reads since the last look, watches aside. */
      requests: () =>
        sent
          .splice(0)
          .map(({ method, path }) => `${method} ${path.split("/").slice(6).join("/")}`)
          .filter((text) => !/^GET $/.test(text))
          .sort(),
    };
  }

  it("writes each object once and the status once; a revision that changes nothing costs the status alone", async () => {
    const { git, requests, hint, settled, store, namespace } = await opened();
    await settled(git.head);
    expect(requests()).toEqual([
      ...NAMES.map((name) => `PATCH functions/${name}`),
      "PATCH repositories/site",
      "PATCH repositories/site",
      "PUT repositories/site/status",
    ]);
    await hint();
    expect(requests()).toEqual([]);
    await git.commit("Change", { "notes.txt": "nothing of a function" });
    await hint();
    expect(requests()).toEqual(["PUT repositories/site/status"]);
    await git.commit("Change", { "c/function.yaml": manifest("c", 256) });
    await hint();
    expect(requests()).toEqual(["PATCH functions/c", "PUT repositories/site/status"]);
    expect((await store.get("Function", { namespace, name: "c" }))?.spec.memoryMB).toBe(256);
  });

  it("one object that admission refuses stops no other, and is written once it is let in", async () => {
    const { git, store, namespace, status, hint, requests, settled } = await opened();
    await settled(git.head);
    const b = () => store.get("Function", { namespace, name: "b" });
    const generation = (await b())?.metadata.generation;
    {
      await using _ = await refuseObjects(plane(), {
        namespace,
        apiGroup: "sless.kube5s.ru",
        resource: "functions",
        because: ({ metadata }) => (metadata.name === "b" ? "b is on the list" : undefined),
      });
      await git.commit("Change", { "a/function.yaml": manifest("a", 256), "b/function.yaml": manifest("b", 256) });
      await hint();
      await eventually(
        "it is told",
        status,
        (told) => told?.conditions?.some(({ message }) => message.includes("b is on the list")) === true,
      );
      expect((await store.get("Function", { namespace, name: "a" }))?.spec.memoryMB).toBe(256);
      const told = await b();
      expect(told?.metadata.generation).toBe(generation);
      expect(told?.status?.conditions).toMatchObject([
        {
          type: "Applied",
          status: "False",
          reason: "AdmissionRefused",
          message: expect.stringContaining("on the list"),
        },
      ]);
      const { body } = await plane().request("GET", `${GROUP}/namespaces/${namespace}/functions/b`);
      const owners = (body.metadata.managedFields as ManagedFields[]).filter(({ fieldsV1 }) => "f:status" in fieldsV1);
      expect(owners.map(({ manager }) => manager)).toEqual(["sless-sync"]);
      // It is told once, however often it is tried.
      const tries = 3;
      const seen: string[] = [];
      await eventually(
        "it is tried again",
        () => seen.push(...requests()) && seen.filter((text) => text === "PATCH functions/b").length,
        (count) => count >= tries,
      );
      expect(seen.filter((text) => text === "PUT functions/b/status")).toHaveLength(1);
    }
    await eventually("b is written", b, (object) => object?.spec.memoryMB === 256);
    await eventually("and nothing is told of it any more", b, (object) => object?.status?.conditions?.length === 0);
  });

  it("an object that a policy of the cluster refuses is told so itself", async () => {
    const { git, store, namespace, hint, settled } = await opened();
    await settled(git.head);
    await policyAgainst(plane(), namespace, "object.metadata.name != 'c' || object.spec.memoryMB < 200");
    await git.commit("Change", { "c/function.yaml": manifest("c", 256), "d/function.yaml": manifest("d", 256) });
    await hint();
    const conditions = async (name: string) => (await store.get("Function", { namespace, name }))?.status?.conditions;
    await eventually(
      "it is told",
      () => conditions("c"),
      (told) => told?.[0]?.message.includes("denied request") === true,
    );
    expect(await conditions("c")).toMatchObject([{ type: "Applied", status: "False" }]);
    expect(await conditions("d")).toBeUndefined();
    await git.commit("As it was", { "c/function.yaml": manifest("c") });
    await hint();
    expect(await conditions("c")).toEqual([]);
  });
});

/** A ValidatingAdmissionPolicy for the functions of a namespace, once it holds. */
async function policyAgainst(plane: TestCluster, namespace: string, expression: string): Promise<void> {
  const path = "/apis/admissionregistration.k8s.io/v1";
  const resourceRules = [
    {
      apiGroups: ["sless.kube5s.ru"],
      apiVersions: ["*"],
      resources: ["functions"],
      operations: ["CREATE", "UPDATE"],
    },
  ];
  const namespaceSelector = { matchLabels: { "kubernetes.io/metadata.name": namespace } };
  const metadata = { name: namespace };
  const policy = { metadata, spec: { matchConstraints: { resourceRules }, validations: [{ expression }] } };
  const spec = { policyName: namespace, validationActions: ["Deny"], matchResources: { namespaceSelector } };
  for (const [plural, body] of [
    ["validatingadmissionpolicies", policy],
    ["validatingadmissionpolicybindings", { metadata, spec }],
  ] as const) {
    const { status, body: answer } = await plane.request("POST", `${path}/${plural}`, { body });
    if (status !== 201) throw new Error(JSON.stringify(answer));
    onTestFinished(async () => void (await plane.request("DELETE", `${path}/${plural}/${namespace}`)));
  }
  const probe = `${GROUP}/namespaces/${namespace}/functions/c?dryRun=All`;
  await eventually(
    "the policy holds",
    () =>
      plane.request("PATCH", probe, {
        body: { spec: { memoryMB: 300 } },
        contentType: "application/merge-patch+json",
      }),
    ({ status }) => status === 422,
  );
}
