import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { findCondition } from "../../src/apis/index.ts";
import { filesOf, type TestFunction } from "../e2e/function-texts.ts";
import { answering, pythonFunction, startTestApp, type TestApp } from "../support/embedded.ts";
import { eventually } from "../support/eventually.ts";
import { gitRepository } from "../support/git-repository.ts";
import { describeWithServers } from "../support/kubernetes/index.ts";
import { packageServer } from "../support/package-server.ts";
import { registryProxy } from "../support/registry-proxy.ts";
import { startSless } from "../support/sless-process.ts";
import { openTestStores, type TestStores } from "../support/stores.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const hello = (value: unknown) => pythonFunction("hello", answering(value));

describeWithServers("a machine whose S3 or registry fails it", () => {
  let stores: TestStores;
  beforeAll(async () => {
    stores = await openTestStores();
  });
  afterAll(() => stores?.close());

  const untilServed = (app: TestApp, value: number) =>
    eventually(
      "the new version serves",
      async () => (await app.call("hello")).body,
      (body) => body === value,
    );
  const statusOf = async (app: TestApp, name: string) => (await app.object<"Function">("functions", name)).status!;

  it("a push while the registry is down leaves the old version serving, says so, and is made up for by itself", async () => {
    const proxy = await registryProxy(stores.registry.host);
    const repository = await gitRepository(hello(1));
    const app = await startTestApp(repository, {
      stores: { ...(await stores.variables()), REGISTRY_HOST: proxy.host },
    });
    await app.synced(repository.head);
    const before = await statusOf(app, "hello");
    proxy.fault = () => ({ status: 503 });
    await app.synced(await repository.commit("two", hello(2)));
    const during = await statusOf(app, "hello");
    expect(during).toMatchObject({ phase: "Failed", imageRef: before.imageRef });
    expect(findCondition(during.conditions, "BuildReady")).toMatchObject({
      reason: "RegistryUnavailable",
      message: expect.stringContaining(proxy.host),
    });
    expect(findCondition(during.conditions, "Serving")?.status).toBe("True");
    expect((await app.call("hello")).body).toBe(1);
    proxy.fault = () => undefined;
    await untilServed(app, 2);
  });

  it("a push while S3 is down leaves the old version serving, says so, and is made up for by itself", async () => {
    const repository = await gitRepository(hello(1));
    const app = await startTestApp(repository, { stores: await stores.variables() });
    await app.synced(repository.head);
    await stores.s3.stop();
    try {
      await repository.commit("two", hello(2));
      const message = await app.readyReason("ArtifactFailed");
      expect(message).toContain("cannot be written or read");
      expect((await app.call("hello")).body).toBe(1);
    } finally {
      await stores.s3.start();
    }
    await untilServed(app, 2);
  });

  it.each<[string, (variables: Record<string, string>) => Record<string, string>, RegExp]>([
    ["a wrong secret key", (given) => ({ ...given, S3_SECRET_KEY: "wrong" }), /refused the credentials.*S3_SECRET_KEY/],
    ["an unknown access key", (given) => ({ ...given, S3_ACCESS_KEY: "nobody" }), /access key ID/],
    ["a bucket that is not there", (given) => ({ ...given, S3_BUCKET: "no-such-bucket" }), /no-such-bucket.*S3_BUCKET/],
    ["an S3 server that is not there", (given) => ({ ...given, S3_ENDPOINT: "http://127.0.0.1:1" }), /ECONNREFUSED/],
  ])("with %s it does not start, and says what to correct", async (_what, wrong, message) => {
    const repository = await gitRepository(hello(1));
    const data = join(await temporaryFolder(), "data");
    const starting = startTestApp(repository, { data, stores: wrong(await stores.variables()) });
    await expect(starting).rejects.toMatchObject({
      code: "storage_unavailable",
      message: expect.stringMatching(message),
    });
    expect(await readdir(data)).not.toContain("pid");
  });

  it("a registry with users is used with the credentials of a docker config, and refuses others at the start", async () => {
    const user = { username: "somebody", password: "right" };
    const own = await openTestStores({ user });
    onTestFinished(() => own.close());
    const configOf = async (password: string) => {
      const file = join(await temporaryFolder(), "config.json");
      const auth = Buffer.from(`${user.username}:${password}`).toString("base64");
      await writeFile(file, JSON.stringify({ auths: { [own.registry.host]: { auth } } }));
      return file;
    };
    const repository = await gitRepository(hello(1));
    const { REGISTRY_HOST, REGISTRY_MIRROR } = await own.variables();
    // Without a bucket sources are in the data folder.
    const variables = { REGISTRY_HOST: REGISTRY_HOST!, REGISTRY_MIRROR: REGISTRY_MIRROR! };
    const start = (REGISTRY_CONFIG?: string) =>
      startTestApp(repository, { stores: { ...variables, ...(REGISTRY_CONFIG ? { REGISTRY_CONFIG } : {}) } });
    for (const config of [undefined, await configOf("secret-but-wrong")]) {
      const error = await start(config).then(
        () => undefined,
        (thrown: Error) => thrown,
      );
      expect(error).toMatchObject({ code: "registry_denied", message: expect.stringContaining("--registry-config") });
      expect(error?.message).not.toContain("secret-but-wrong");
    }
    await expect(start("/no/such/file")).rejects.toMatchObject({ code: "settings_invalid" });
    const cut = join(await temporaryFolder(), "config.json");
    await writeFile(cut, '{"auths": {"registry.example": {"auth": "secret-and-cut');
    const told = await start(cut).catch((thrown: Error) => thrown);
    expect(told).toMatchObject({ code: "settings_invalid", message: expect.stringContaining(cut) });
    expect((told as Error).message).not.toContain("secret-and-cut");
    const app = await start(await configOf(user.password));
    await app.synced(repository.head);
    expect((await app.call("hello")).body).toBe(1);
    expect(await readdir(join(app.data, "objects/objects/functions/default/hello"))).toHaveLength(1);
  });

  it("killed while it installs, it goes on with the next start, and leaves nothing half made", async () => {
    const packages = await packageServer();
    const snake: TestFunction = {
      ...{ name: "snake", runtime: "python3.11", file: "handler.py" },
      code: (text) => `import own\ndef handle(event):\n    return "${text}" + str(own.VALUE)\n`,
      answer: (text) => `${text}7`,
      dependencies: { "requirements.txt": packages.requirement },
    };
    const repository = await gitRepository(filesOf(snake, "got "));
    const data = join(await temporaryFolder(), "data");
    const env = await stores.variables();
    packages.hold();
    const killed = await startSless(repository.dir, { data, env });
    await eventually("pip waits for the package", packages.held, (isHeld) => isHeld);
    killed.kill("SIGKILL");
    await killed.exited();
    packages.release();
    const next = await startSless(repository.dir, { data, env });
    const answer = async () => (await fetch(`${next.url}/fn/default/snake`, { method: "POST" })).text();
    await eventually(
      "it answers",
      () => answer().catch(String),
      (body) => body === "got 7",
      180_000,
    );
    // Output of commands is kept as long as the process lives.
    expect((await readdir(join(data, "builds/tmp"))).filter((name) => !name.endsWith(".log"))).toEqual([]);
    expect(await readdir(join(data, "builds/pulled/tmp"))).toEqual([]);
  });
});
