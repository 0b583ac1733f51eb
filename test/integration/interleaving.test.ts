import { readFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import { type ObjectOf, ownerUidOf } from "../../src/apis/index.ts";
import { createSlots } from "../../src/controller/slots.ts";
import { createClient } from "../../src/server/client.ts";
import { packArchive } from "../../src/source/index.ts";
import { type PulledObject, put } from "../pull/pull-world.ts";
import { memoryNamespaces, serverFixture } from "../server/server-fixture.ts";
import { functionYaml, handler } from "../support/function-files.ts";
import type { Files } from "../support/git-repository.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { testCli } from "../support/test-cli.ts";
import { openGit, syncWorld } from "../sync/sync-world.ts";

const NAMES = ["a", "b"] as const;
const RUNS = 10;
type Name = (typeof NAMES)[number];

/** What somebody does. Sizes of memory tell writes apart. */
type Step =
  | { readonly do: "push"; readonly name: Name; readonly memory: number; readonly adopts: boolean }
  | { readonly do: "remove"; readonly name: Name }
  | { readonly do: "create" | "replace" | "merge"; readonly name: Name; readonly memory: number }
  | { readonly do: "delete" | "upload"; readonly name: Name }
  | { readonly do: "sync" | "restart" }
  /** A pull into the clone, while a manifest that is not committed yet lies there; then all is pushed. */
  | { readonly do: "pull"; readonly unsaved: (Manifest & { readonly name: Name }) | undefined };

const name = fc.constantFrom(...NAMES);
const memory = fc.constantFrom(64, 128, 256);
const write = fc.oneof(
  fc.record({ do: fc.constantFrom("create" as const, "replace" as const, "merge" as const), name, memory }),
  fc.record({ do: fc.constantFrom("delete" as const, "upload" as const), name }),
);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant("push" as const), name, memory, adopts: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("remove" as const), name }) },
  { weight: 5, arbitrary: write },
  { weight: 3, arbitrary: fc.constantFrom<Step>({ do: "sync" }, { do: "restart" }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("pull" as const),
      unsaved: fc.option(fc.record({ name, memory, adopts: fc.boolean() }), { nil: undefined }),
    }),
  },
);
/** Steps of a group happen at the same time. */
const groups = fc.array(fc.array(step, { minLength: 1, maxLength: 3 }), { minLength: 3, maxLength: 10 });

/** A real repository, a store, a sync and a server over them. */
async function openWorld() {
  const world = await syncWorld({ "README.md": "empty" });
  const { store, objects } = world;
  const { url } = await serverFixture({ store, objects, namespaces: memoryNamespaces(["demo"]) });
  const archive = new Uint8Array(
    await packArchive([{ path: "handler.py", mode: "100644", content: Buffer.from(handler()) }]),
  );
  const send = async (method: string, path: string, body?: object) => {
    const isZip = body instanceof Uint8Array;
    const response = await fetch(`${url}/v1/namespaces/demo/functions${path}`, {
      method,
      ...(body && { body: isZip ? new Uint8Array(body) : JSON.stringify(body) }),
      headers: isZip || !body ? {} : { "content-type": "application/json" },
    });
    await response.text();
    expect([200, 201, 204, 404, 409]).toContain(response.status);
    return response.ok;
  };
  const requests = {
    create: (of: Name, memory_mb: number) => send("POST", "", { name: of, runtime: "python3.11", memory_mb }),
    replace: (of: Name, memory_mb: number) => send("PUT", `/${of}`, { runtime: "python3.11", memory_mb }),
    merge: (of: Name, memory_mb: number) => send("PATCH", `/${of}`, { memory_mb }),
    delete: (of: Name) => send("DELETE", `/${of}`),
    upload: (of: Name) => send("POST", `/${of}/upload`, archive),
  };
  /** What became of each object. */
  async function pull(): Promise<readonly PulledObject[]> {
    const { code, stdout, stderr } = await testCli(
      ["pull", "--into", world.git.work, "--endpoint", url, "--namespace", "demo", "-o", "json"],
      { deps: { createClient, openGitReader: openGit } },
    );
    expect([0, 1], stderr).toContain(code);
    return (JSON.parse(stdout) as { objects: PulledObject[] }).objects;
  }
  return { world, requests, pull };
}

type World = Awaited<ReturnType<typeof openWorld>>;

interface Manifest {
  readonly memory: number;
  readonly adopts: boolean;
}

/** The manifests of a commit. */
type Manifests = Readonly<Record<Name, Manifest | undefined>>;

/** What of a function was promised to whom. */
interface Promised {
  /** In the last commit. */
  manifest: Manifest | undefined;
  /** Sizes that the API accepted last for an object that is nobody's; of several at the same time, any may be the last. */
  rest: readonly number[];
}

/** What happened to one function in a group. */
interface Happened {
  readonly manifests: readonly Manifest[];
  readonly accepted: readonly number[];
  readonly isDeleted: boolean;
}

/** The promises that hold after a group, by what is there; throws when one of those before it was broken. */
function kept(before: Promised, happened: Happened, live: ObjectOf<"Function"> | undefined): readonly number[] {
  const rest = [...before.rest, ...happened.accepted];
  const manifests = [...(before.manifest ? [before.manifest] : []), ...happened.manifests];
  // A manifest takes over what is equal, or what it is told to.
  const mayTakeOver = manifests.some(({ memory: wanted, adopts }) => adopts || rest.includes(wanted));
  const mayBeGone = rest.length === 0 || happened.isDeleted || mayTakeOver;
  if (!live) {
    expect(mayBeGone, "an object of the API went without a reason").toBe(true);
    return [];
  }
  if (ownerUidOf(live as never) !== undefined) {
    expect(mayBeGone, "an object of the API was taken over unasked").toBe(true);
    return [];
  }
  const last = happened.accepted.length > 0 ? happened.accepted : before.rest;
  expect(last, "the last write of the API is there").toContain(live.spec.memoryMB);
  return [live.spec.memoryMB!];
}

const folderOf = (of: Name) => `functions/${of}`;

it("whatever pushes, pulls and REST writes come together, each is there in the end or was refused", async () => {
  const { seed } = seededRandom("interleaving");
  await fc.assert(
    fc.asyncProperty(groups, async (all) => {
      const opened = await openWorld();
      const { world, requests, pull } = opened;
      const promised: Record<Name, Promised> = {
        a: { manifest: undefined, rest: [] },
        b: { manifest: undefined, rest: [] },
      };
      const commits = createSlots(1);
      const syncs = createSlots(1);

      const commit = (changes: () => Promise<Files>) =>
        commits.run(async () => {
          await world.git.commit("change", await changes());
          return { isAccepted: true, manifests: await manifestsIn(world.git.work) };
        });
      async function take(one: Step): Promise<Done> {
        switch (one.do) {
          case "sync":
            await syncs.run(() => world.sync());
            return { isAccepted: true };
          case "restart":
            await syncs.run(() => world.restart());
            return { isAccepted: true };
          case "remove":
            return commit(async () => ({ [folderOf(one.name)]: null }));
          case "push":
            return commit(async () => filesOf(one));
          case "pull":
            return commit(async () => {
              await pullBeside(world, one.unsaved, pull);
              return {};
            });
          case "delete":
          case "upload":
            return { isAccepted: await requests[one.do](one.name) };
          default:
            return { isAccepted: await requests[one.do](one.name, one.memory) };
        }
      }

      for (const group of [...all, [{ do: "sync" } as const], [{ do: "sync" } as const]]) {
        const done = await Promise.all(group.map(async (one) => ({ one, ...(await take(one)) })));
        for (const of of NAMES) {
          const live = await world.get("Function", of);
          promised[of].rest = kept(promised[of], happenedTo(of, done), live);
          for (const { manifests } of done) if (manifests) promised[of].manifest = manifests[of];
        }
      }
      await checkEnd(world, promised);
      await checkPulled(opened);
    }),
    { numRuns: RUNS, seed },
  );
});

function filesOf({ name: of, memory: memoryMB, adopts }: Manifest & { readonly name: Name }) {
  const annotations = adopts ? { "sless.kube5s.ru/adopt": "enabled" } : undefined;
  return {
    [`${folderOf(of)}/function.yaml`]: functionYaml(of, { memoryMB }, annotations),
    [`${folderOf(of)}/handler.py`]: handler(),
  };
}

/** What came of a step. */
interface Done {
  readonly isAccepted: boolean;
  /** After the commit that it made. */
  readonly manifests?: Manifests;
}

function happenedTo(of: Name, done: readonly (Done & { readonly one: Step })[]): Happened {
  const accepted = done
    .filter(({ isAccepted }) => isAccepted)
    .flatMap(({ one }) => ("name" in one && one.name === of ? [one] : []));
  return {
    manifests: done.flatMap(({ manifests }) => manifests?.[of] ?? []),
    accepted: accepted.flatMap((one) => (one.do !== "push" && "memory" in one ? [one.memory] : [])),
    isDeleted: accepted.some((one) => one.do === "delete"),
  };
}

/** Pulls: what is not saved stays as it is, no manifest goes, and what is left alone is told with a reason. */
async function pullBeside(
  { git }: World["world"],
  unsaved: (Manifest & { readonly name: Name }) | undefined,
  pull: World["pull"],
): Promise<void> {
  if (unsaved) await put(git.work, filesOf(unsaved));
  const changed = await git.git("status", "--porcelain", "--untracked-files=all");
  const before = await manifestsIn(git.work);
  const rows = await pull();
  const after = await manifestsIn(git.work);
  for (const of of NAMES) {
    const row = rows.find(({ name: other }) => other === of);
    if (before[of]) expect(after[of], `the manifest of ${of}`).toBeDefined();
    if (changed.includes(`${folderOf(of)}/function.yaml`)) expect(after[of]).toEqual(before[of]);
    if (row?.action === "created" || row?.action === "configured") continue;
    expect(after[of]).toEqual(before[of]);
    if (row && row.action !== "unchanged") expect(row.reason).toMatch(/\w/);
  }
}

/** After a last pull the clone says what the server has, and a push of it changes nothing of that. */
async function checkPulled({ world, pull }: World): Promise<void> {
  const rows = await pull();
  await world.git.commit("pulled", {});
  await world.sync();
  const manifests = await manifestsIn(world.git.work);
  for (const of of NAMES) {
    const live = await world.get("Function", of);
    const row = rows.find(({ name: other }) => other === of);
    if (live && row?.reason === undefined) expect(manifests[of]?.memory, of).toBe(live.spec.memoryMB);
  }
  const actions = (await pull()).map(({ action }) => action);
  expect(actions.filter((action) => action !== "unchanged" && action !== "skipped")).toEqual([]);
}

async function manifestsIn(work: string): Promise<Manifests> {
  const [a, b] = await Promise.all(NAMES.map((of) => manifestIn(join(work, folderOf(of), "function.yaml"))));
  return { a, b };
}

async function manifestIn(file: string): Promise<Manifest | undefined> {
  const text = await readFile(file, "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  // A pull leaves out what is the default.
  const memoryMB = Number(/memoryMB: (\d+)/.exec(text)?.[1] ?? 128);
  return { memory: memoryMB, adopts: text.includes("/adopt") };
}

/** After the last sync every manifest is applied or told why not, and nothing names an archive that is not there. */
async function checkEnd(world: World["world"], promised: Readonly<Record<Name, Promised>>): Promise<void> {
  const diagnostics = (await world.status()).diagnostics?.items ?? [];
  for (const of of NAMES) {
    const { manifest } = promised[of];
    const live = await world.get("Function", of);
    const isOwned = live !== undefined && ownerUidOf(live as never) !== undefined;
    const isTold = diagnostics.some(({ file }) => file === `${folderOf(of)}/function.yaml`);
    if (live?.spec.s3Key !== undefined) expect(await world.objects.has(live.spec.s3Key)).toBe(true);
    if (isOwned) expect(live.spec.memoryMB).toBe(manifest?.memory);
    else expect(isTold).toBe(manifest !== undefined);
  }
}
