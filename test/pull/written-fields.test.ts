import fc from "fast-check";
import { expect, it } from "vitest";
import { ANNOTATIONS, type AnyObject, type Kind, type ObjectIntent, withDefaults } from "../../src/apis/index.ts";
import { appliedIntent } from "../../src/plan/index.ts";
import { writtenFields } from "../../src/pull/written-fields.ts";

const UID = "0b9e3a52-6f0e-4b4e-9a51-3c9d1c2f7a10";
const DIGEST = "2d06b02899dcdd89559575dd0640749bb4495ddae006257f93f5bcffc85a36e1";
const SOURCE = { digest: DIGEST, dependenciesDigest: "d".repeat(64), files: [] };

/** What of each field is a default, and what is not. */
const PROGRAM = {
  entrypoint: fc.constantFrom("handler.handle", "main.run"),
  memoryMB: fc.constantFrom(128, 64),
  timeoutSec: fc.constantFrom(30, 0, 7),
  env: fc.constantFrom({}, { A: "b" }),
  replicas: fc.constantFrom(0, 1, 3),
};
const TRIGGER = { enabled: fc.boolean(), schedule: fc.constant("@daily"), concurrencyPolicy: fc.constant("Allow") };
const manifest = fc.oneof(
  fc
    .tuple(fc.constantFrom<Kind>("Function", "Service"), fc.record(PROGRAM, { requiredKeys: [] }))
    .map(([kind, spec]) => ({ kind, spec: { runtime: "python3.11", ...spec } })),
  fc.record(TRIGGER, { requiredKeys: [] }).map((spec) => ({
    kind: "Trigger" as const,
    spec: { type: "cron", functionRef: "hello", ...spec },
  })),
);
const bucket = fc.option(fc.constant("sources"), { nil: undefined });

/** As the store has it after a sync: with defaults, and marks of others. */
function synced({ kind, spec }: { kind: Kind; spec: object }, s3Bucket?: string): AnyObject {
  const annotations = { team: "a", [ANNOTATIONS.adopt]: "enabled" };
  const metadata = { name: "hello", namespace: "demo", labels: { tier: "web" }, annotations };
  const intent = { kind, metadata, spec } as ObjectIntent;
  const source = kind === "Trigger" ? {} : { source: SOURCE };
  const applier = { uid: UID, ...(s3Bucket !== undefined && { s3Bucket }) };
  const applied = appliedIntent(
    { intent, file: "f/all.yaml", line: 4, column: 1, ...source },
    applier,
    "main@sha1:abc",
  );
  return { ...applied, spec: withDefaults(kind, { ...applied.spec }) } as unknown as AnyObject;
}

it("what a manifest wrote is told from defaults that it left out, whatever it wrote", () => {
  fc.assert(
    fc.property(manifest, bucket, (written, s3Bucket) => {
      const told = writtenFields(synced(written, s3Bucket), { ...withDefaults(written.kind, {}) });
      expect(told && [...told].sort()).toEqual(Object.keys(written.spec).sort());
    }),
  );
});

const FUNCTION = { kind: "Function", spec: { runtime: "python3.11", memoryMB: 128 } } as const;
const changed = (change: (object: AnyObject) => AnyObject) => change(synced(FUNCTION));
const withAnnotation = (object: AnyObject, key: string, value: string) =>
  ({
    ...object,
    metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, [key]: value } },
  }) as AnyObject;

it.each([
  ["nobody owns", changed((object) => ({ ...object, metadata: { ...object.metadata, annotations: {} } }) as AnyObject)],
  ["was edited", changed((object) => ({ ...object, spec: { ...object.spec, memoryMB: 64 } }) as AnyObject)],
  ["got an annotation", changed((object) => withAnnotation(object, "other", "x"))],
])("of an object that %s it is not told", (_what, live) => {
  expect(writtenFields(live, { ...withDefaults("Function", {}) })).toBeUndefined();
});

it("an approval or a request beside it hides nothing", () => {
  const live = withAnnotation(synced(FUNCTION), ANNOTATIONS.deletionApproved, "x/y");
  expect(writtenFields(live, { ...withDefaults("Function", {}) })).toEqual(new Set(["runtime", "memoryMB"]));
});
