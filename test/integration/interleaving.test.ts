import fc from "fast-check";
import { expect, it } from "vitest";
import { type ObjectOf, ownerUidOf } from "../../src/apis/index.ts";
import { createSlots } from "../../src/server/slots.ts";
import { packArchive } from "../../src/source/index.ts";
import { memoryNamespaces, serverFixture } from "../server/server-fixture.ts";
import { functionYaml, handler } from "../support/function-files.ts";
import { syncWorld } from "../sync/sync-world.ts";

const NAMES = ["a", "b"] as const;
type Name = (typeof NAMES)[number];

/** What somebody does. Sizes of memory tell writes apart. */
type Step =
  | { readonly do: "push"; readonly name: Name; readonly memory: number; readonly adopts: boolean }
  | { readonly do: "remove"; readonly name: Name }
  | { readonly do: "create" | "replace" | "merge"; readonly name: Name; readonly memory: number }
  | { readonly do: "delete" | "upload"; readonly name: Name }
  | { readonly do: "sync" | "restart" };

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
  return { world, requests };
}

interface Manifest {
  readonly memory: number;
  readonly adopts: boolean;
}

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

it("whatever pushes and REST writes come together, each is there in the end or was refused", async () => {
  await fc.assert(
    fc.asyncProperty(groups, async (all) => {
      const { world, requests } = await openWorld();
      const promised: Record<Name, Promised> = {
        a: { manifest: undefined, rest: [] },
        b: { manifest: undefined, rest: [] },
      };
      const commits = createSlots(1);
      const syncs = createSlots(1);

      async function take(one: Step): Promise<boolean> {
        switch (one.do) {
          case "sync":
            await syncs.run(() => world.sync());
            return true;
          case "restart":
            await syncs.run(() => world.restart());
            return true;
          case "remove":
            await commits.run(() => world.git.commit("remove", { [folderOf(one.name)]: null }));
            return true;
          case "push":
            await commits.run(() => world.git.commit("push", filesOf(one)));
            return true;
          case "delete":
          case "upload":
            return requests[one.do](one.name);
          default:
            return requests[one.do](one.name, one.memory);
        }
      }

      for (const group of [...all, [{ do: "sync" } as const], [{ do: "sync" } as const]]) {
        const done = await Promise.all(group.map(async (one) => ({ one, isAccepted: await take(one) })));
        for (const of of NAMES) {
          const mine = done.filter(({ one }) => "name" in one && one.name === of);
          const live = await world.get("Function", of);
          promised[of].rest = kept(promised[of], happenedIn(mine), live);
          for (const { one } of mine) {
            if (one.do === "push") promised[of].manifest = one;
            if (one.do === "remove") promised[of].manifest = undefined;
          }
        }
      }
      await checkEnd(world, promised);
    }),
    { numRuns: 10 },
  );
});

function filesOf({ name: of, memory: memoryMB, adopts }: Extract<Step, { do: "push" }>) {
  const annotations = adopts ? { "sless.kube5s.ru/adopt": "enabled" } : undefined;
  return {
    [`${folderOf(of)}/function.yaml`]: functionYaml(of, { memoryMB }, annotations),
    [`${folderOf(of)}/handler.py`]: handler(),
  };
}

function happenedIn(done: readonly { one: Step; isAccepted: boolean }[]): Happened {
  const accepted = done.filter(({ isAccepted }) => isAccepted).map(({ one }) => one);
  return {
    manifests: accepted.filter((one) => one.do === "push"),
    accepted: accepted.flatMap((one) => (one.do !== "push" && "memory" in one ? [one.memory] : [])),
    isDeleted: accepted.some((one) => one.do === "delete"),
  };
}

/** After the last sync every manifest is applied or told why not, and nothing names an archive that is not there. */
async function checkEnd(
  world: Awaited<ReturnType<typeof openWorld>>["world"],
  promised: Readonly<Record<Name, Promised>>,
): Promise<void> {
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
