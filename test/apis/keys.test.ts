import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  hashFields,
  imageName,
  sourceDigestOfKey,
  sourceKey,
  sourceKeyPrefix,
  type WorkloadRef,
} from "../../src/apis/index.ts";

const DIGEST = "0123456789abcdef".repeat(4);
const hello: WorkloadRef = { kind: "Function", namespace: "default", name: "hello" };
const job: WorkloadRef = { ...hello, kind: "FunctionJob" };

it("sources of functions and services stand below functions/, those of jobs below jobs/", () => {
  expect(sourceKey(hello, DIGEST)).toBe(`functions/default/hello/${DIGEST}.zip`);
  expect(sourceKey({ ...hello, kind: "Service" }, DIGEST)).toBe(`functions/default/hello/${DIGEST}.zip`);
  expect(sourceKey(job, DIGEST)).toBe(`jobs/default/hello/${DIGEST}.zip`);
  expect(sourceKeyPrefix(job)).toBe("jobs/default/hello/");
});

it("a key names its digest, to its own workload alone", () => {
  const key = sourceKey(hello, DIGEST);
  expect(sourceDigestOfKey(hello, key)).toBe(DIGEST);
  expect(sourceDigestOfKey({ ...hello, name: "hell" }, key)).toBeUndefined();
  expect(sourceDigestOfKey({ ...hello, namespace: "other" }, key)).toBeUndefined();
  expect(sourceDigestOfKey(job, key)).toBeUndefined();
});

it.each([
  undefined,
  "",
  "functions/default/hello/",
  "functions/default/hello/x.zip",
  `functions/default/hello/${DIGEST}`,
  `functions/default/hello/${DIGEST}.zip.bak`,
  `functions/default/hello/../other/${DIGEST}.zip`,
  `functions/default/hello/${DIGEST.toUpperCase()}.zip`,
  `functions/default/hello/${DIGEST}.zip\n`,
])("%j names no digest", (key) => {
  expect(sourceDigestOfKey(hello, key)).toBeUndefined();
});

it("images of jobs and of functions of one name are two", () => {
  expect(imageName(hello)).toBe("sless-default_hello");
  expect(imageName(job)).toBe("sless-default_job_hello");
});

describe("hashFields", () => {
  it("is sha256 over the length and bytes of each field", () => {
    expect(hashFields(["a"])).toBe("4162fddd39a3e4225e8e2392eced237fbeb34e6e218b5647d27bd4d2b9c0da24");
    expect(hashFields([])).toBe("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  });

  it("is the same for a text and its bytes", () => {
    expect(hashFields(["grüße"])).toBe(hashFields([new TextEncoder().encode("grüße")]));
  });

  it("differs for different lists of fields, however they are cut", () => {
    const fields = fc.array(fc.string({ maxLength: 6 }), { maxLength: 4 });
    fc.assert(
      fc.property(
        fields,
        fields,
        (a, b) => (hashFields(a) === hashFields(b)) === (JSON.stringify(a) === JSON.stringify(b)),
      ),
    );
  });
});
