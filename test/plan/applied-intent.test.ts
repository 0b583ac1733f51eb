import { expect, it } from "vitest";
import { ANNOTATIONS, FINALIZER, LABELS, ownerUidOf, sourceDigestOfKey } from "../../src/apis/index.ts";
import { appliedHash, appliedIntent } from "../../src/plan/index.ts";
import { fn, OURS, REVISION, source, toLive, trigger } from "./objects.ts";

const hello = fn(
  "hello",
  { memoryMB: 256 },
  { labels: { team: "a" }, annotations: { [ANNOTATIONS.prune]: "disabled" }, source: source("one", "requests") },
);

it("applies the manifest's own fields, the source's key and our marks", () => {
  const intent = appliedIntent(hello, { uid: OURS, s3Bucket: "sources" }, REVISION);
  const { digest, dependenciesDigest } = hello.source!;
  expect(intent).toEqual({
    kind: "Function",
    metadata: {
      name: "hello",
      namespace: "default",
      labels: { team: "a", [LABELS.repository]: OURS },
      annotations: {
        [ANNOTATIONS.prune]: "disabled",
        [ANNOTATIONS.owner]: `${OURS}/Function/default/hello`,
        [ANNOTATIONS.path]: "functions/hello/function.yaml",
        [ANNOTATIONS.revision]: REVISION,
        [ANNOTATIONS.dependenciesDigest]: dependenciesDigest,
        [ANNOTATIONS.appliedHash]: appliedHash(hello, { uid: OURS, s3Bucket: "sources" }),
      },
      finalizers: [FINALIZER],
    },
    spec: {
      runtime: "python3.11",
      memoryMB: 256,
      s3Bucket: "sources",
      s3Key: `functions/default/hello/${digest}.zip`,
    },
  });
});

it("marks an object so that its owner and its source are known", () => {
  const live = toLive(appliedIntent(hello, { uid: OURS }, REVISION));
  expect(ownerUidOf(live)).toBe(OURS);
  const ref = { kind: "Function", namespace: "default", name: "hello" } as const;
  expect(sourceDigestOfKey(ref, (live.spec as { s3Key?: string }).s3Key)).toBe(hello.source!.digest);
});

it("names no source of an object that has none", () => {
  const { spec, metadata } = appliedIntent(trigger("web"), { uid: OURS, s3Bucket: "sources" }, REVISION);
  expect(spec).toEqual({ type: "http", functionRef: "hello" });
  expect(metadata.annotations).not.toHaveProperty([ANNOTATIONS.dependenciesDigest]);
});

it("what has something to clean up is born with the finalizer, a trigger is not", () => {
  expect(appliedIntent(hello, { uid: OURS }, REVISION).metadata.finalizers).toEqual([FINALIZER]);
  expect(appliedIntent(trigger("web"), { uid: OURS }, REVISION).metadata).not.toHaveProperty("finalizers");
});

const applier = { uid: OURS };
const base = appliedHash(hello, applier);
it.each([
  [
    "the order of keys",
    { ...hello, intent: { ...hello.intent, spec: { memoryMB: 256, runtime: "python3.11" } } },
    applier,
    true,
  ],
  ["the place in the file", { ...hello, line: 30, column: 5 }, applier, true],
  ["a field", fn("hello", { memoryMB: 257 }, { ...hello.intent.metadata, source: hello.source! }), applier, false],
  ["the file", { ...hello, file: "elsewhere/function.yaml" }, applier, false],
  ["the code", { ...hello, source: source("two", "requests") }, applier, false],
  ["the repository", hello, { uid: "another" }, false],
  ["the bucket", hello, { uid: OURS, s3Bucket: "sources" }, false],
])("the hash of what is applied and %s", (_what, desired, by, isSame) => {
  expect(appliedHash(desired, by) === base).toBe(isSame);
});
