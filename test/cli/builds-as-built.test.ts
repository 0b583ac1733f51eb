import { tmpdir } from "node:os";
import fc from "fast-check";
import { expect, it } from "vitest";
import { refOf, refText, sourceKey, type WorkloadRef } from "../../src/apis/index.ts";
import { readSource } from "../../src/build/images/source-files.ts";
import { imageKey, planImage } from "../../src/build/plan/index.ts";
import { readBuilds } from "../../src/cli/read-builds.ts";
import { NOTHING_KNOWN, openDesiredReader } from "../../src/desired/index.ts";
import { changesBetween, type DesiredObject, type DesiredState, isWriting, refOfAction } from "../../src/plan/index.ts";
import { packArchive, sourceDigest, storedFile } from "../../src/source/index.ts";
import { type MemoryFile, memoryGit } from "../desired/memory-git.ts";
import { runtimes } from "../support/function-files.ts";
import { memoryObjectStore } from "../support/memory-object-store.ts";

const PLATFORM = "linux/amd64";
const digestOf = (letter: string) => `sha256:${letter.repeat(64)}` as const;

type Git = ReturnType<typeof memoryGit>["git"];

/** What a builder knows once it has made the images of some objects. */
class Registry {
  readonly #images = new Set<string>();
  readonly #dependencies = new Set<string>();

  /** What the builder has to do for an object; with `made`, it is done after that. */
  async build({ intent, source }: DesiredObject, git: Git, made: boolean): Promise<string> {
    const ref = refOf(intent) as WorkloadRef;
    const { runtime: name = "", entrypoint = "handler.handle" } = intent.spec as {
      runtime?: string;
      entrypoint?: string;
    };
    const blobs = await git.blobs(source!.files.map(({ id }) => id));
    const files = source!.files.map(({ path, mode, id }) => ({ path, mode, content: blobs.get(id)! }));
    const objects = memoryObjectStore();
    const key = sourceKey(ref, source!.digest);
    await objects.put(key, await packArchive(files));
    const runtime = runtimes.get(name)!;
    const request = { runtime, entrypoint, sourceDigest: source!.digest };
    const stored = { sourceKey: key, sourceDigest: sourceDigest(files.map(storedFile)) };
    const deps = { objects, limits: {}, temporary: tmpdir() };
    const read = await readSource(stored, deps, new AbortController().signal);
    const plan = planImage({
      request,
      base: `registry.test/base@${digestOf("a")}`,
      platform: PLATFORM,
      dependencies: await read.dependencies(runtime.dependencyFiles),
      hasFile: read.has,
      addresses: {},
    });
    await read.close();
    const image = `${refText(ref)} ${imageKey(request, { base: digestOf("a") }, PLATFORM)}`;
    const done = this.#images.has(image)
      ? "none"
      : plan.kind === "deps" && this.#dependencies.has(plan.job.key)
        ? "append"
        : plan.kind;
    if (made) this.#images.add(image);
    if (made && plan.kind === "deps") this.#dependencies.add(plan.job.key);
    return done;
  }
}

type Files = ReadonlyMap<string, MemoryFile>;

const maybe = <T>(...values: readonly T[]) => fc.constantFrom(undefined, ...values);
const source = fc.record({
  runtime: fc.constantFrom("python3.11", "python3.13", "nodejs24", "go1.26"),
  entrypoint: maybe("handler.handle", "handler.other"),
  memoryMB: maybe(64),
  code: fc.constantFrom("1", "2"),
  requirements: maybe<MemoryFile>(
    "flask",
    "django",
    "-e .",
    "-r more.txt",
    { link: "shared/all.txt" },
    { link: "gone" },
  ),
  "shared/all.txt": fc.constantFrom("flask", "requests", "./lib"),
  constraints: maybe<MemoryFile>("flask<3", { link: "requirements.txt" }),
  package: maybe<MemoryFile>("{}", '{"dependencies":{"a":"1"}}', '{"scripts":{"install":"x"}}', '{"workspaces":["x"]}'),
  lock: maybe("{}", '{"lockfileVersion":3}'),
  gyp: maybe("binding.gyp", "binding.gyp/inner"),
});
type Source = typeof source extends fc.Arbitrary<infer T> ? T : never;

function filesOf(folder: string, made: Source): [string, MemoryFile][] {
  const fields = [
    `runtime: ${made.runtime}`,
    made.entrypoint && `entrypoint: ${made.entrypoint}`,
    made.memoryMB && "memoryMB: 64",
  ];
  const spec = fields.filter(Boolean).join(", ");
  const manifest = `apiVersion: sless.kube5s.ru/v1alpha1\nkind: Function\nmetadata: {name: ${folder}}\nspec: {${spec}}\n`;
  const files: Record<string, MemoryFile | undefined> = {
    "function.yaml": manifest,
    "handler.py": made.code,
    "handler.js": made.code,
    "handler.go": made.code,
    "requirements.txt": made.requirements,
    "constraints.txt": made.constraints,
    "shared/all.txt": made["shared/all.txt"],
    "package.json": made.package,
    "package-lock.json": made.lock,
    ...(made.gyp && { [made.gyp]: "x" }),
  };
  return Object.entries(files).flatMap(([name, file]) => (file === undefined ? [] : [[`${folder}/${name}`, file]]));
}

async function stateOf(git: ReturnType<typeof memoryGit>, files: Files): Promise<DesiredState> {
  const reader = openDesiredReader({ git: git.git as never, path: "", namespace: "default", runtimes });
  return reader.read(git.commit(files), NOTHING_KNOWN);
}

const repository = fc
  .record({ a: source, b: source })
  .map(({ a, b }): Files => new Map([...filesOf("a", a), ...filesOf("b", b)]));
/** The next revision often differs in one thing alone. */
const revisions = fc.oneof(
  fc.tuple(repository, repository),
  fc.record({ a: source, b: source, other: source, field: fc.nat() }).map(({ a, b, other, field }): [Files, Files] => {
    const names = Object.keys(a) as (keyof Source)[];
    const name = names[field % names.length]!;
    const before = [...filesOf("a", a), ...filesOf("b", b)];
    return [
      new Map(before),
      new Map([...before.filter(([path]) => !path.startsWith("a/")), ...filesOf("a", { ...a, [name]: other[name] })]),
    ];
  }),
);

it("what the plan says is what the builder does with the images of the revision before", async () => {
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(revisions, async ([before, after]) => {
      const git = memoryGit();
      const base = await stateOf(git, before);
      const head = await stateOf(git, after);
      const plan = changesBetween(base, head);
      const { builds, diagnostics } = await readBuilds({
        plan,
        git: git.git,
        runtimes,
        before: { base: base.objects },
      });
      const registry = new Registry();
      for (const object of base.objects) await registry.build(object, git.git, true);
      const done = new Map<string, string>();
      for (const action of plan.actions.filter(isWriting))
        if ("desired" in action)
          done.set(refText(refOfAction(action)), await registry.build(action.desired, git.git, false));
      for (const kind of done.values()) seen.add(kind);
      expect(diagnostics).toEqual([]);
      expect(new Map([...builds].map(([ref, { kind }]) => [ref, kind]))).toEqual(done);
    }),
    { numRuns: 400 },
  );
  expect([...seen].sort()).toEqual(["append", "deps", "full", "none"]);
});
