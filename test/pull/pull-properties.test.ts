import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { type Kind, type ObjectIntent, REPOSITORY_CONTENT_KINDS } from "../../src/apis/index.ts";
import type { FileChange } from "../support/git-repository.ts";
import { KEY, type SyncWorld, syncWorld } from "../sync/sync-world.ts";
import { emptyFolder, filesBelow, type PullWorld, pullWorld } from "./pull-world.ts";

type Source = Record<string, Exclude<FileChange, null>>;
interface Generated {
  readonly kind: Kind;
  readonly name: string;
  readonly spec: Record<string, unknown>;
  readonly source?: Source;
}

const text = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 10 }),
  fc.constantFrom("", "yes", "1_0", "2024-01-01", "a\nb\n", " a", "#", "$HOME", "\u0085", "'\"\\"),
);
const env = fc.dictionary(
  fc.constantFrom("A", "B", "NO", "on"),
  text.filter((value) => !value.includes("\0")),
  {
    noNullPrototype: true,
  },
);
const secretEnv = fc.dictionary(fc.constantFrom("S", "T"), fc.constant({ secret: "api", key: "1_0" }), {
  noNullPrototype: true,
});
const program = {
  memoryMB: fc.integer({ min: 32, max: 256 }),
  env,
  secretEnv,
  sourceDir: fc.constantFrom("src", "./deep/er/", "ä ö"),
  entrypoint: fc.constantFrom("handler.handle", "handler:main"),
};
const optional = <T extends Record<string, fc.Arbitrary<unknown>>>(fields: T) =>
  fc.record(fields, { requiredKeys: [] });

/** Paths that may stand together; some look like manifests, some are ignored by Git. */
const PATHS = [
  "function.yaml",
  "Service.YAML",
  "job.yml",
  "data.yaml",
  "ünïcode.txt",
  "日本/語.bin",
  "a b/c#d.txt",
  "שלום",
  "deep/er/still/x",
  "node_modules/pkg/index.js",
  ".hidden",
  "-dash",
  "sless.yaml",
  "x.log",
];
const DATA = "apiVersion: v1\nkind: ConfigMap\ndata: {}\n";
const content = fc.oneof(fc.uint8Array({ maxLength: 40 }), fc.string({ unit: "binary", maxLength: 20 }));
const file: fc.Arbitrary<Source[string]> = fc.oneof(
  content,
  content.map((bytes) => ({ mode: "755" as const, content: bytes })),
  fc.constantFrom({ symlink: "handler.py" }, { symlink: "nowhere" }),
);
const source = fc
  .tuple(
    fc.dictionary(fc.constantFrom(...PATHS), file, { maxKeys: 6, noNullPrototype: true }),
    fc.boolean(),
    fc.boolean(),
    content,
  )
  .map(
    ([files, hasSlessIgnore, hasGitIgnore, code]): Source => ({
      ...Object.fromEntries(Object.entries(files).map(([path, one]) => [path, asData(path, one)])),
      "handler.py": code,
      ...(hasSlessIgnore && { ".slessignore": "*.skip\nfunction.yaml.bak\n" }),
      ...(hasGitIgnore && { ".gitignore": "*.log\nnode_modules\n" }),
    }),
  );

/** A YAML file that ships with code is one of another group. */
function asData(path: string, one: Source[string]): Source[string] {
  return /ya?ml$/i.test(path) ? DATA : one;
}

const workload = fc.oneof(
  fc.record({
    kind: fc.constantFrom<Kind>("Function", "Service"),
    spec: optional({ ...program, replicas: fc.constantFrom(0, 1, 3) }),
    source,
  }),
  fc.record({
    kind: fc.constant<Kind>("FunctionJob"),
    spec: optional({
      ...program,
      eventJSON: fc.jsonValue().map((value) => JSON.stringify(value, null, 1)),
      runID: fc.nat(3),
    }),
    source,
  }),
);
const other = fc.oneof(
  fc.record({
    kind: fc.constant<Kind>("Trigger"),
    spec: fc.record({ type: fc.constant("http"), functionRef: fc.constantFrom("a", "b", "zz"), enabled: fc.boolean() }),
  }),
  fc.record({ kind: fc.constant<Kind>("FunctionJob"), spec: fc.record({ functionRef: fc.constantFrom("a", "b") }) }),
);
const NAMES = ["a", "b", "c-1", "d", "e"];
const set = fc
  .tuple(
    fc.array(workload, { minLength: 1, maxLength: 3 }),
    fc.array(other, { maxLength: 2 }),
    fc.shuffledSubarray(NAMES, { minLength: 5 }),
  )
  .map(([workloads, others, names]): Generated[] =>
    [...workloads.map((one) => ({ ...one, spec: { runtime: "python3.11", ...one.spec } })), ...others].map(
      (one, index) => ({ ...one, name: names[index]! }),
    ),
  );

async function fill(world: PullWorld, objects: readonly Generated[]): Promise<void> {
  for (const { kind, name, spec, source } of objects) await world.write(kind, name, spec as never, source);
}

type Spec = readonly [kind: string, name: string, spec: object];

async function specsIn(world: SyncWorld): Promise<Spec[]> {
  const lists = await Promise.all(REPOSITORY_CONTENT_KINDS.map((kind) => world.store.list(kind, KEY)));
  return lists.flatMap(({ items }) => items.map(({ kind, metadata, spec }): Spec => [kind, metadata.name, spec]));
}

/** Without what a manifest that was there leaves to scale and PATCH. */
function withoutLeft([kind, name, spec]: Spec): Spec {
  const { replicas: _replicas, enabled: _enabled, ...rest } = spec as { replicas?: number; enabled?: boolean };
  return [kind, name, rest];
}

it("what was pulled into an empty folder and pushed to an empty server is the same there", async () => {
  await fc.assert(
    fc.asyncProperty(set, async (objects) => {
      const world = await pullWorld({});
      await fill(world, objects);
      const into = await emptyFolder();
      const first = await world.pulled("--into", into);
      expect(first.objects.filter(({ action }) => action !== "created")).toEqual([]);
      const files = await filesBelow(into);
      const fresh = await syncWorld(files);
      await fresh.sync();
      expect(await fresh.ready()).toBe("True ReconciliationSucceeded");
      expect(await specsIn(fresh)).toEqual(await specsIn(world));
      const second = await world.pulled("--into", into);
      expect(second.objects.filter(({ action }) => action !== "unchanged")).toEqual([]);
      expect(await filesBelow(into)).toEqual(files);
    }),
    { numRuns: 20 },
  );
});

/** What a `.gitignore` of the source names is not of the work tree, as Git sees it; the pull tells that. */
const tracked = set.map((objects) =>
  objects.map((one): Generated => {
    const { ".gitignore": _, ...rest } = one.source ?? {};
    return one.source === undefined ? one : { ...one, source: rest };
  }),
);

it("whatever stood in a checkout, a pull by force makes it what the server has, once and for all", async () => {
  await fc.assert(
    // What stays where it was as Git does not see it is none of the pull's: `before` has no .gitignore.
    fc.asyncProperty(tracked, set, fc.boolean(), async (before, after, isCommitted) => {
      const world = await pullWorld({});
      await fill(world, before);
      await world.pulled();
      if (isCommitted) await world.git.commit("before", {});
      else await writeFile(join(world.git.work, "notes.txt"), "mine");
      for (const { kind, name } of before) await world.remove(kind, name);
      await fill(world, after);
      const first = await world.pulled("--force", "--prune");
      expect(first.objects.filter(({ action }) => action === "failed")).toEqual([]);
      const second = await world.pulled("--force", "--prune");
      const left = [...first.objects, ...second.objects].filter(({ action }) => action === "skipped");
      if (left.length > 0) return;
      const files = await filesBelow(world.git.work);
      expect((await world.pulled()).objects.filter(({ action }) => action !== "unchanged")).toEqual([]);
      const fresh = await syncWorld(files);
      await fresh.sync();
      expect((await specsIn(fresh)).map(withoutLeft)).toEqual((await specsIn(world)).map(withoutLeft));
    }),
    { numRuns: 20 },
  );
});

it("after a pull a plan of the folder has nothing to change, and once that is pushed nothing to do", async () => {
  await fc.assert(
    fc.asyncProperty(tracked, tracked, async (before, after) => {
      const world = await pullWorld({ "README.md": "functions\n" });
      await fill(world, before);
      await world.pulled();
      await world.git.commit("before", {});
      await world.sync();
      expect(await world.planned()).toMatchObject({ code: 0, diagnostics: [] });
      for (const { kind, name } of before) await world.remove(kind, name);
      await fill(world, after);
      const { objects } = await world.pulled("--force", "--prune");
      if (objects.some(({ action }) => action === "skipped")) return;
      const { actions, diagnostics } = await world.planned();
      expect(diagnostics).toEqual([]);
      // What nobody owned becomes the repository's, as it is.
      const changing = actions.filter(({ action, changes }) => action !== "unchanged" && (changes ?? []).length > 0);
      expect(changing).toEqual([]);
      expect(actions.filter(({ action }) => action !== "unchanged" && action !== "adopt")).toEqual([]);
      await world.git.commit("after", {});
      await world.sync();
      const { code, actions: last } = await world.planned();
      expect(last.filter(({ action }) => action !== "unchanged")).toEqual([]);
      expect(code).toBe(0);
    }),
    { numRuns: 8 },
  );
});

it("what export prints makes the same objects, and they print the same again", async () => {
  await fc.assert(
    fc.asyncProperty(set, async (objects) => {
      const world = await pullWorld({ "README.md": "" });
      await fill(world, objects);
      const exported = (await world.sless("export")).stdout;
      const fresh = await pullWorld({ "README.md": "" });
      for (const document of parseAllDocuments(exported, { version: "1.1" })) {
        const { kind, metadata, spec } = document.toJS() as ObjectIntent;
        if (kind !== "Repository") await fresh.store.apply({ kind, metadata, spec } as ObjectIntent, { owner: "api" });
      }
      const contents = ["--only", "functions", "services", "jobs", "triggers"];
      const again = await fresh.sless("export", ...contents);
      expect(again.stdout).toBe((await world.sless("export", ...contents)).stdout);
      const bare = ([kind, name, { s3Key: _, ...spec }]: readonly [string, string, { s3Key?: string }]) => [
        kind,
        name,
        spec,
      ];
      expect((await specsIn(fresh)).map(bare)).toEqual((await specsIn(world)).map(bare));
    }),
    { numRuns: 30 },
  );
});
