import { expect, it } from "vitest";
import { readStoreSettings } from "../../src/config/index.ts";

it("without a bucket and a registry everything stays in the data folder", () => {
  expect(readStoreSettings({})).toEqual({ s3: undefined, registry: undefined });
  expect(readStoreSettings({ S3_BUCKET: "", REGISTRY_HOST: "", S3_ACCESS_KEY: "" })).toEqual(readStoreSettings({}));
});

it("a flag stands above its variable, and credentials come from the environment", () => {
  const { s3, registry } = readStoreSettings(
    {
      ...{ S3_BUCKET: "a", S3_ENDPOINT: "http://a", S3_ACCESS_KEY: "key", S3_SECRET_KEY: "secret", S3_REGION: "eu" },
      ...{ REGISTRY_HOST: "a:1", REGISTRY_MIRROR: "a:2", REGISTRY_CONFIG: "a.json" },
    },
    {
      ...{ "s3-bucket": "b", "s3-endpoint": "https://b/" },
      ...{ registry: "b:1", "registry-mirror": "b:2", "registry-config": "b.json" },
    },
  );
  expect(s3).toEqual({
    ...{ bucket: "b", endpoint: "https://b", region: "eu", forcePathStyle: true },
    credentials: { accessKeyId: "key", secretAccessKey: "secret" },
  });
  expect(registry).toMatchObject({ host: "b:1", mirror: "b:2", dockerConfig: "b.json" });
});

it.each([
  ["registry.example.org", { host: "registry.example.org", prefix: "" }],
  ["GHCR.io/acme", { host: "ghcr.io", prefix: "acme/" }],
  ["10.1.0.5:5000/acme/dev_functions", { host: "10.1.0.5:5000", prefix: "acme/dev_functions/" }],
])("images go to %s", (place, expected) => {
  expect(readStoreSettings({ REGISTRY_HOST: place }).registry).toMatchObject(expected);
});

it.each([
  ["127.0.0.1:5000", {}, true],
  ["localhost:5000", {}, true],
  ["[::1]:5000", {}, true],
  ["registry.example.org", {}, false],
  ["127.example.org:5000", {}, false],
  ["registry.example.org", { REGISTRY_PLAIN_HTTP: "true" }, true],
  ["127.0.0.1:5000", { REGISTRY_PLAIN_HTTP: "false" }, false],
])("a registry at %s with %o is spoken to without TLS: %s", (host, env, isPlain) => {
  const { registry } = readStoreSettings(env, { registry: host });
  expect(registry!.isPlainHttp(host)).toBe(isPlain);
  expect(registry!.isPlainHttp("docker.io")).toBe(false);
});

it.each([
  [{ S3_ENDPOINT: "http://127.0.0.1:7070" }, "S3_ENDPOINT is set and S3_BUCKET is not"],
  [{ S3_BUCKET: "b", S3_ACCESS_KEY: "key" }, "S3_ACCESS_KEY and S3_SECRET_KEY go together"],
  [{ S3_BUCKET: "b", S3_ENDPOINT: "127.0.0.1:7070" }, "S3_ENDPOINT is no http(s) address"],
  [{ REGISTRY_HOST: "http://127.0.0.1:5000" }, 'REGISTRY_HOST "http://127.0.0.1:5000" is no host of a registry'],
  [{ REGISTRY_HOST: "127.0.0.1:5000/Team" }, 'REGISTRY_HOST "127.0.0.1:5000/Team" is no place in a registry'],
  [{ REGISTRY_HOST: "ghcr.io/" }, "is no place in a registry"],
  [{ REGISTRY_HOST: "ghcr.io/acme/../other" }, "is no place in a registry"],
  [{ REGISTRY_HOST: `ghcr.io/${"a/".repeat(60)}b` }, "is no place in a registry"],
  [{ REGISTRY_HOST: "registry" }, "is no host of a registry"],
  [{ REGISTRY_HOST: "a:1", REGISTRY_MIRROR: "user:secret@b" }, "REGISTRY_MIRROR"],
  [{ S3_BUCKET: "s3://sless" }, 'S3_BUCKET "s3://sless" is no name of a bucket'],
  [{ S3_BUCKET: "sless/sources" }, "is no name of a bucket"],
  [{ S3_BUCKET: " " }, "is no name of a bucket"],
  [{ REGISTRY_HOST: "localhost:65536" }, "is no host of a registry"],
  [{ REGISTRY_HOST: "localhost:0" }, "is no host of a registry"],
  [{ REGISTRY_HOST: "a:1", REGISTRY_PLAIN_HTTP: "yes" }, 'REGISTRY_PLAIN_HTTP "yes" is none of true, false'],
])("%o is refused: %s", (env, fault) => {
  expect(() => readStoreSettings(env)).toThrow(fault);
});

it.each([
  [
    { "s3-bucket": "b", "s3-endpoint": "http://user:hunter2@127.0.0.1:7070" },
    "put it into S3_ACCESS_KEY and S3_SECRET_KEY",
  ],
  [{ registry: "user:hunter2@registry.example.org" }, "--registry holds a credential"],
  [{ registry: "https://user:hunter2@registry.example.org/functions" }, "--registry holds a credential"],
  [{ registry: "a:1", "registry-mirror": "user:hunter2@b" }, "--registry-mirror holds a credential"],
])("a password in %o is refused and not shown", (flags, fault) => {
  expect(() => readStoreSettings({}, flags)).toThrow(fault);
  expect(() => readStoreSettings({}, flags)).not.toThrow("hunter2");
});

it("names of buckets that other servers and access points have are taken", () => {
  for (const bucket of ["b", "My_Bucket.1", "arn:aws:s3:eu-west-1:123456789012:accesspoint/sless"])
    expect(readStoreSettings({ S3_BUCKET: bucket }).s3!.bucket).toBe(bucket);
});

it("a flag about a registry is refused when none is named, and a variable may stay set", () => {
  const flags = { "registry-mirror": "127.0.0.1:5000", "registry-config": "a.json" };
  expect(() => readStoreSettings({}, flags)).toThrow(
    /--registry-mirror is given and --registry is not.*; --registry-config is given/,
  );
  expect(readStoreSettings({ REGISTRY_HOST: "a:1" }, flags).registry).toMatchObject({ mirror: "127.0.0.1:5000" });
  expect(readStoreSettings({ REGISTRY_MIRROR: "127.0.0.1:5000" }).registry).toBeUndefined();
});

it("all faults are told at once, those of flags by the names of the flags", () => {
  const flags = { "s3-endpoint": "nowhere", registry: "no host" };
  expect(() => readStoreSettings({ S3_SECRET_KEY: "hidden" }, flags)).toThrow(
    /--s3-endpoint is no .*; S3_ACCESS_KEY and S3_SECRET_KEY.*; --registry "no host" is no host/,
  );
  expect(() => readStoreSettings({ S3_SECRET_KEY: "hidden" }, flags)).not.toThrow("hidden");
});
