import { resolve } from "node:path";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import {
  type DependencyFile,
  type ImagePlan,
  imageKey,
  originKey,
  type PlanInput,
  planImage,
} from "../../../src/build/plan/index.ts";
import { loadRuntimes, type Runtime } from "../../../src/runtimes/index.ts";

const digest = (letter: string) => `sha256:${letter.repeat(64)}` as const;
const file = (name: string, text: string): DependencyFile => ({
  name,
  isExecutable: false,
  content: new TextEncoder().encode(text),
});

let runtimes: ReadonlyMap<string, Runtime>;
beforeAll(async () => {
  runtimes = await loadRuntimes(resolve(import.meta.dirname, "../../../runtimes"));
});

interface Source {
  readonly runtime?: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly others?: readonly string[];
  readonly change?: Omit<Partial<PlanInput>, "request"> & { readonly request?: Partial<PlanInput["request"]> };
}

function inputOf({ runtime = "python3.11", files = {}, others = [], change = {} }: Source): PlanInput {
  const { request, ...rest } = change;
  return {
    base: `registry.test/library/python@${digest("a")}`,
    platform: "linux/amd64",
    dependencies: Object.entries(files).map(([name, text]) => file(name, text)),
    hasFile: (path) => Object.hasOwn(files, path) || others.includes(path),
    addresses: {},
    ...rest,
    request: {
      runtime: runtimes.get(runtime)!,
      entrypoint: "handler.handle",
      sourceDigest: "0".repeat(64),
      ...request,
    },
  };
}

const plan = (source: Source) => planImage(inputOf(source));
const keyOf = (made: ImagePlan) => ("job" in made ? made.job.key : undefined);

describe("how an image comes to be", () => {
  const cases: Record<string, [Source, Partial<ImagePlan> & { reason: unknown }]> = {
    "code alone goes on the base image": [{}, { kind: "append", reason: expect.stringContaining("python:3.11-slim") }],
    "constraints without requirements install nothing": [
      { files: { "constraints.txt": "a<2" } },
      { kind: "append", reason: expect.any(String) },
    ],
    "requirements are installed once": [
      { files: { "requirements.txt": "requests" } },
      { kind: "deps", reason: expect.stringContaining("requirements.txt") },
    ],
    "so is a package.json": [
      { runtime: "nodejs20", files: { "package.json": "{}", "package-lock.json": "{}" } },
      { kind: "deps", reason: expect.stringContaining("package-lock.json, package.json") },
    ],
    "requirements that name the source are built with it": [
      { files: { "requirements.txt": "a\n-e .\n" } },
      {
        kind: "full",
        appendsSource: false,
        reason: "requirements.txt line 2 (-e .) installs the source itself, so the whole source is built",
      },
    ],
    "constraints may reach into it too": [
      { files: { "requirements.txt": "a", "constraints.txt": "-c more.txt" } },
      { kind: "full", appendsSource: false, reason: expect.stringContaining("constraints.txt line 1") },
    ],
    "scripts of the user's run where the source is": [
      { runtime: "nodejs24", files: { "package.json": '{"scripts":{"postinstall":"x"}}' } },
      { kind: "full", appendsSource: false, reason: expect.stringContaining("(postinstall)") },
    ],
    "npm compiles what has a binding.gyp": [
      { runtime: "nodejs24", files: { "package.json": "{}" }, others: ["binding.gyp"] },
      { kind: "full", appendsSource: false, reason: expect.stringContaining("binding.gyp") },
    ],
    "a binding.gyp without a package.json is a file like others": [
      { runtime: "nodejs24", others: ["binding.gyp"] },
      { kind: "append", reason: expect.any(String) },
    ],
    "a compiled language is built": [
      { runtime: "go1.26" },
      { kind: "full", appendsSource: true, reason: "go is compiled, so the whole source is built" },
    ],
  };
  it.each(Object.entries(cases))("%s", (_name, [source, expected]) => {
    expect(plan(source)).toMatchObject(expected);
  });
});

describe("Dockerfiles", () => {
  const runOf = (dockerfile: string) => JSON.parse(/^RUN (.*)$/m.exec(dockerfile)![1]!) as readonly string[];

  it("of dependencies hold the base by digest, the files and the install command", () => {
    const made = plan({ files: { "requirements.txt": "requests" } });
    if (made.kind !== "deps") throw new Error(made.kind);
    const { dockerfile, context } = made.job;
    expect(dockerfile.split("\n").filter((line) => !line.startsWith("RUN"))).toEqual([
      `FROM registry.test/library/python@${digest("a")}`,
      "USER 0",
      "COPY deps/ /sless/image/deps/",
      "WORKDIR /sless/image/deps",
      "",
    ]);
    expect(runOf(dockerfile).slice(-8)).toEqual([
      "python3.11",
      "-m",
      "pip",
      "install",
      "--target",
      "/sless/image/deps",
      "-r",
      "requirements.txt",
    ]);
    expect(context).toEqual({ dependencies: true, source: false, runtime: false });
  });

  it("of a program leave the compiler behind, and take certificates along", () => {
    const runBase = `registry.test/library/debian@${digest("b")}` as const;
    const made = plan({ runtime: "go1.26", change: { runBase } });
    if (made.kind !== "full") throw new Error(made.kind);
    const { dockerfile, context } = made.job;
    expect(dockerfile).toContain(`\nFROM ${runBase}\n`);
    expect(dockerfile).toContain(
      "COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt\n",
    );
    expect(dockerfile).toContain("COPY --from=build /sless/out/ /sless/image/\n");
    expect(runOf(dockerfile)).toEqual(
      expect.arrayContaining(["go", "/sless/runtime", "/sless/image/source", "/sless/out"]),
    );
    expect(context).toEqual({ dependencies: false, source: true, runtime: true });
  });

  it("of a program without a run image stand on the base image", () => {
    const { runImage: _, ...runtime } = runtimes.get("go1.26")!;
    const made = plan({ runtime: "go1.26", change: { request: { runtime } } });
    if (made.kind !== "full") throw new Error(made.kind);
    expect(made.job.dockerfile.match(/^FROM .*$/gm)).toHaveLength(2);
    expect(made.job.dockerfile).toMatch(/^FROM registry\.test\/library\/python@sha256:a+$/m);
  });

  it("give commands their addresses, and hold every command on one line", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (value, argument) => {
        const runtime = {
          ...runtimes.get("python3.11")!,
          install: [{ when: ["requirements.txt"], command: ["x", argument.replaceAll(/[{}]/g, "")] }],
        };
        const made = plan({
          files: { "requirements.txt": "a" },
          change: { addresses: { HTTPS_PROXY: value }, request: { runtime } },
        });
        if (made.kind !== "deps") throw new Error(made.kind);
        const { dockerfile } = made.job;
        expect(dockerfile.split(/\r\n|\r|\n/)).toHaveLength(6);
        const command = runOf(dockerfile);
        expect(command).toContain(`HTTPS_PROXY=${value}`);
        expect(command.at(-1)).toBe(argument.replaceAll(/[{}]/g, ""));
      }),
    );
  });
});

describe("keys", () => {
  const text = fc.string({ maxLength: 8 });
  const hash = fc.constantFrom(digest("a"), digest("b"));
  const fields = fc.record({
    base: hash,
    platform: fc.constantFrom("linux/amd64", "linux/arm64"),
    sourceDigest: fc.constantFrom("1".repeat(64), "2".repeat(64)),
    entrypoint: fc.constantFrom("handler.handle", "other.handle"),
    requirements: text.map((one) => `a==${one.replaceAll(/[^0-9]/g, "1")}`),
    constraints: fc.option(
      text.map((one) => `b==${one.replaceAll(/[^0-9]/g, "1")}`),
      { nil: undefined },
    ),
    isExecutable: fc.boolean(),
    index: fc.constantFrom("https://one.test", "https://two.test"),
  });
  type Fields = typeof fields extends fc.Arbitrary<infer T> ? T : never;

  function depsPlan({
    base,
    platform,
    sourceDigest,
    entrypoint,
    requirements,
    constraints,
    isExecutable,
    index,
  }: Fields) {
    const files = [
      { ...file("requirements.txt", requirements), isExecutable },
      ...(constraints === undefined ? [] : [file("constraints.txt", constraints)]),
    ];
    return planImage({
      ...inputOf({ change: { request: { sourceDigest, entrypoint } } }),
      base: `registry.test/python@${base}`,
      platform,
      dependencies: files,
      addresses: { PIP_INDEX_URL: index },
    });
  }

  it("of dependencies are equal exactly when all that decides them is", () => {
    const deciding = ({ sourceDigest: _s, entrypoint: _e, ...rest }: Fields) => JSON.stringify(rest);
    fc.assert(
      fc.property(fields, fields, (one, other) => {
        expect(keyOf(depsPlan(one)) === keyOf(depsPlan(other))).toBe(deciding(one) === deciding(other));
      }),
      { numRuns: 500 },
    );
  });

  it("of dependencies never change with code", () => {
    fc.assert(
      fc.property(fields, fields, (one, { sourceDigest, entrypoint }) => {
        expect(keyOf(depsPlan({ ...one, sourceDigest, entrypoint }))).toBe(keyOf(depsPlan(one)));
      }),
    );
  });

  it("do not know the order of files, nor where the base image lies", () => {
    fc.assert(
      fc.property(fields, (one) => {
        const input = {
          ...inputOf({}),
          dependencies: [file("requirements.txt", one.requirements), file("constraints.txt", "c")],
        };
        const reversed = { ...input, dependencies: input.dependencies.toReversed() };
        const elsewhere = { ...input, base: `other.test/p@${digest("a")}` as const };
        expect(keyOf(planImage(reversed))).toBe(keyOf(planImage(input)));
        expect(keyOf(planImage(elsewhere))).toBe(keyOf(planImage(input)));
      }),
    );
  });

  it("of dependencies know an install command that changed, and a server that it names", () => {
    const runtime = runtimes.get("python3.11")!;
    const named = [{ when: ["requirements.txt"], command: ["{runtime}/install"] }];
    const variants = [
      runtime,
      { ...runtime, install: [{ when: ["requirements.txt"], command: ["pip", "install"] }] },
      { ...runtime, name: "python3.12" },
      { ...runtime, buildEnv: { A: "1" } },
      { ...runtime, install: named },
      { ...runtime, install: named, digest: "f".repeat(64) },
    ];
    const keys = variants.map((one) =>
      keyOf(plan({ files: { "requirements.txt": "a" }, change: { request: { runtime: one } } })),
    );
    expect(new Set(keys).size).toBe(variants.length);
    const moved = { ...runtime, digest: "f".repeat(64) };
    expect(keyOf(plan({ files: { "requirements.txt": "a" }, change: { request: { runtime: moved } } }))).toBe(keys[0]);
  });

  it("of a build of the whole source change with the source, and with the entry point where it is compiled", () => {
    const built = (source: Source) => keyOf(plan(source));
    const go = { runtime: "go1.26" };
    const other = { change: { request: { entrypoint: "other.handle" } } };
    const changed = { change: { request: { sourceDigest: "9".repeat(64) } } };
    const editable = { files: { "requirements.txt": "-e ." } };
    expect(built({ ...go, ...other })).not.toBe(built(go));
    expect(built({ ...go, ...changed })).not.toBe(built(go));
    expect(built({ ...editable, ...changed })).not.toBe(built(editable));
    expect(built({ ...editable, ...other })).toBe(built(editable));
  });

  it("of images are equal exactly when all that decides them is; of their origin, whatever they stand on", () => {
    const bases = fc.record({ base: hash, run: fc.option(hash, { nil: undefined }) });
    const wanted = fc.record({
      runtime: fc.constantFrom("python3.11", "go1.26"),
      sourceDigest: fc.constantFrom("1".repeat(64), "2".repeat(64)),
      entrypoint: fc.constantFrom("handler.handle", "other.handle"),
      platform: fc.constantFrom("linux/amd64", "linux/arm64"),
    });
    const of = ({
      runtime,
      sourceDigest,
      entrypoint,
    }: {
      runtime: string;
      sourceDigest: string;
      entrypoint: string;
    }) => ({
      runtime: runtimes.get(runtime)!,
      sourceDigest,
      entrypoint,
    });
    fc.assert(
      fc.property(wanted, wanted, bases, bases, (one, two, on, under) => {
        const relevant = (all: typeof one) =>
          JSON.stringify({ ...all, entrypoint: all.runtime.startsWith("go") ? all.entrypoint : "" });
        const isSame = relevant(one) === relevant(two);
        const isSameBase = JSON.stringify(on) === JSON.stringify(under);
        const keys = [imageKey(of(one), on, one.platform), imageKey(of(two), under, two.platform)];
        const origins = [originKey(of(one), one.platform), originKey(of(two), two.platform)];
        expect(keys[0] === keys[1]).toBe(isSame && isSameBase);
        expect(origins[0] === origins[1]).toBe(isSame);
      }),
      { numRuns: 500 },
    );
  });
});
