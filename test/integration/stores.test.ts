import { execFile } from "node:child_process";
import { mkdir, readdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parseImageReference } from "../../src/registry/index.ts";
import { createClient } from "../../src/server/client.ts";
import { packArchive } from "../../src/source/index.ts";
import { filesOf, type TestFunction, without } from "../e2e/function-texts.ts";
import { answering, pythonFunction, startTestApp, type TestApp } from "../support/embedded.ts";
import { eventually } from "../support/eventually.ts";
import { gitRepository } from "../support/git-repository.ts";
import { describeWithServers } from "../support/kubernetes/index.ts";
import { packageServer } from "../support/package-server.ts";
import { registryProxy } from "../support/registry-proxy.ts";
import { openTestStores, type TestStores } from "../support/stores.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { testCli } from "../support/test-cli.ts";

const run = promisify(execFile);
/** Of a program, on a busy machine. */
const BUILD_MAX_MS = 300_000;
const hello = (value: unknown) => pythonFunction("hello", answering(value));

describeWithServers("a machine with S3 and a registry", () => {
  let stores: TestStores;
  beforeAll(async () => {
    stores = await openTestStores();
  });
  afterAll(() => stores?.close());

  const statusOf = async (app: TestApp, name: string) => (await app.object<"Function">("functions", name)).status!;
  /** After a start replicas come when they come, whatever the status of the life before says. */
  const answers = (app: TestApp, name: string, value: unknown) =>
    eventually(
      `${name} answers`,
      () => app.call(name),
      ({ body }) => body === value,
    );
  const sless = (app: TestApp, ...args: string[]) =>
    testCli([...args, "--endpoint", app.app.url], { deps: { createClient } });

  it("a push of every language goes through the bucket and the registry to an answer, and the next one moves code alone", async () => {
    const { requirement, tarball, fetched } = await packageServer();
    const packageJson = JSON.stringify({ dependencies: { tiny: tarball } });
    const functions: readonly TestFunction[] = [
      {
        ...{ name: "snake", runtime: "python3.11", file: "handler.py" },
        code: (text) => `import own\ndef handle(event):\n    return f"${text}, {own.VALUE}"\n`,
        answer: (text) => `${text}, 7`,
        dependencies: { "requirements.txt": requirement },
      },
      {
        ...{ name: "hexagon", runtime: "nodejs20", file: "handler.mjs" },
        code: (text) => `import tiny from "tiny";\nexport const handle = () => \`${text}, \${tiny}\`;\n`,
        answer: (text) => `${text}, tiny answers`,
        dependencies: { "package.json": packageJson },
      },
      {
        ...{ name: "bare", runtime: "nodejs20", file: "handler.js" },
        code: (text) => `exports.handle = async () => ${JSON.stringify(text)};\n`,
        answer: (text) => text,
      },
    ];
    const proxy = await registryProxy(stores.registry.host);
    const repository = await gitRepository(Object.assign({}, ...functions.map((fn) => filesOf(fn, "one"))));
    const place = `${proxy.host}/acme/functions`;
    const variables: Record<string, string> = { ...(await stores.variables()), REGISTRY_HOST: place };
    const app = await startTestApp(repository, { stores: variables });
    await app.synced(repository.head);
    for (const { name, answer } of functions)
      expect(await app.call(name)).toEqual({ status: 200, body: answer("one") });
    const before = await statusOf(app, "snake");
    expect(before.imageRef).toMatch(
      new RegExp(`^${place}/sless-dev-[0-9a-f]{12}/sless-default_snake@sha256:[0-9a-f]{64}$`),
    );
    expect((await app.object<"Function">("functions", "snake")).spec.s3Bucket).toBe(variables.S3_BUCKET);
    expect(await readdir(join(app.data, "objects")).catch(() => [])).toEqual([]);
    const fetchedBefore = fetched();
    proxy.requests.length = 0;

    await app.synced(await repository.commit("two", Object.assign({}, ...functions.map((fn) => filesOf(fn, "two")))));
    for (const { name, answer } of functions)
      expect(await app.call(name)).toEqual({ status: 200, body: answer("two") });
    expect(fetched()).toBe(fetchedBefore);
    expect(proxy.requests.reduce((sum, { sent }) => sum + sent, 0)).toBeLessThan(50_000);
    const jobs = proxy.requests.filter(({ method, path }) => method === "PUT" && /sless-(deps|builds)\//.test(path));
    expect(jobs).toEqual([]);

    const after = await statusOf(app, "snake");
    expect(after.imageRef).not.toBe(before.imageRef);
    expect((await sless(app, "describe", "function", "snake")).stdout).toContain(after.imageRef);
    const { stdout } = await sless(app, "history", "snake", "-o", "json");
    expect(JSON.parse(stdout).items).toMatchObject([
      { number: 2, image_ref: after.imageRef, source_present: true, image_present: true },
      { number: 1, image_ref: before.imageRef, source_present: true, image_present: true },
    ]);
  });

  it("a program is compiled here, pushed, and runs as it was pushed", async (context) => {
    const cache = await run("go", ["env", "GOCACHE"]).catch(() => undefined);
    if (!cache) return context.skip("needs go");
    const data = join(await temporaryFolder(), "data");
    // Without what is compiled already the standard library would be compiled anew.
    await mkdir(join(data, "builds/cache"), { recursive: true });
    await symlink(cache.stdout.trim(), join(data, "builds/cache/go-build"));
    const gopher: TestFunction = {
      ...{ name: "gopher", runtime: "go1.26", file: "handler.go" },
      code: (text) => `package handler\n\nfunc Handle() (string, error) {\n\treturn "${text}", nil\n}\n`,
      answer: (text) => text,
    };
    const repository = await gitRepository(filesOf(gopher, "compiled"));
    const app = await startTestApp(repository, { data, stores: await stores.variables() });
    const serves = async () => (await app.call("gopher")).body;
    await eventually("it answers", serves, (body) => body === "compiled", BUILD_MAX_MS);
    // The answer comes before the status that tells of it.
    await app.app.settled();
    expect((await statusOf(app, "gopher")).imageRef).toContain("sless-default_gopher@sha256:");
  });

  it("a package of the source itself is installed where the source stands", async () => {
    const repository = await gitRepository(
      filesOf(
        {
          ...{ name: "own", runtime: "nodejs20", file: "handler.js" },
          code: (text) => `exports.handle = () => "${text} " + require("inner");\n`,
          answer: (text) => `${text} inside`,
          dependencies: {
            "package.json": JSON.stringify({ dependencies: { inner: "file:./inner" } }),
            "inner/package.json": JSON.stringify({ name: "inner", version: "1.0.0" }),
            "inner/index.js": 'module.exports = "inside";\n',
          },
        },
        "from",
      ),
    );
    const app = await startTestApp(repository, { stores: await stores.variables() });
    await app.synced(repository.head);
    expect((await app.call("own")).body).toBe("from inside");
  });

  it("after a restart without the registry everything serves, and nothing is made again", async () => {
    const proxy = await registryProxy(stores.registry.host);
    const repository = await gitRepository(hello(1));
    const variables = { ...(await stores.variables()), REGISTRY_HOST: proxy.host };
    const first = await startTestApp(repository, { stores: variables });
    await first.synced(repository.head);
    const { imageRef } = await statusOf(first, "hello");
    await first.app.close();
    proxy.fault = () => ({ status: 503 });
    const second = await startTestApp(repository, { data: first.data, stores: variables });
    expect(second.events).toContainEqual({ step: "notice", message: expect.stringContaining(proxy.host) });
    await second.app.settled();
    await answers(second, "hello", 1);
    expect((await statusOf(second, "hello")).imageRef).toBe(imageRef);
    expect(second.events.filter(({ step }) => step === "built" || step === "stored")).toEqual([]);
  });

  it("going back to what served before builds nothing, and takes the image that is there", async () => {
    const repository = await gitRepository(hello(1));
    const app = await startTestApp(repository, { stores: await stores.variables() });
    await app.synced(repository.head);
    const first = await statusOf(app, "hello");
    await app.synced(await repository.commit("two", hello(2)));
    app.events.length = 0;
    await app.synced(await repository.commit("back", hello(1)));
    expect((await app.call("hello")).body).toBe(1);
    expect((await statusOf(app, "hello")).imageRef).toBe(first.imageRef);
    expect(app.events.filter(({ step }) => step === "built")).toMatchObject([{ reused: true }]);
    expect(app.events.filter(({ step }) => step === "stored")).toEqual([]);
  });

  it("what a deleted function left goes from bucket, registry and machine, and what others have stays", async () => {
    const other = pythonFunction("other", answering("other"));
    const repository = await gitRepository({ ...hello("hello"), ...other });
    const variables = await stores.variables();
    const app = await startTestApp(repository, { stores: variables, env: { GARBAGE_GRACE: "1s" } });
    await app.synced(repository.head);
    const [gone, kept] = [await statusOf(app, "hello"), await statusOf(app, "other")];
    await app.synced(await repository.commit("without hello", without(hello("hello"))));
    const collect = (dryRun: boolean) => app.client.collectGarbage({ dryRun });
    await collect(false);
    // Base images have a longer grace time.
    const waits = async () =>
      (await collect(true)).items.filter(({ sort, action }) => sort !== "base" && action === "wait");
    await eventually("the grace time is over", waits, (items) => items.length === 0);
    const { items } = await collect(false);
    expect(
      items
        .filter(({ action }) => action === "remove")
        .map(({ sort }) => sort)
        .sort(),
    ).toEqual(expect.arrayContaining(["image", "image", "source"]));
    expect(await isInRegistry(gone.imageRef!)).toBe(false);
    expect(await isInRegistry(kept.imageRef!)).toBe(true);
    const onMachine = await readdir(join(app.data, "builds/pulled/images"));
    expect(onMachine).toEqual([kept.imageRef!.slice(-64)]);
    expect((await app.call("other")).body).toBe("other");
    // It comes back as if it had never been there.
    await app.synced(await repository.commit("with hello", hello("hello")));
    expect((await app.call("hello")).body).toBe("hello");
  });

  it("two machines with one registry take nothing from each other, and one bucket for both is not collected from", async () => {
    const variables = await stores.variables();
    const repository = await gitRepository(hello(1));
    const [one, two] = [
      await startTestApp(repository, { stores: variables, env: { GARBAGE_GRACE: "1s" } }),
      await startTestApp(await gitRepository(hello(2)), {
        stores: await stores.variables(),
        env: { GARBAGE_GRACE: "1s" },
      }),
    ];
    await Promise.all([one, two].map((app) => app.app.settled()));
    const images = [await statusOf(one, "hello"), await statusOf(two, "hello")].map(({ imageRef }) => imageRef!);
    await one.synced(await repository.commit("nothing", without(hello(1))));
    const isCollected = async () => {
      await one.client.collectGarbage({ dryRun: false });
      return !(await isInRegistry(images[0]!));
    };
    await eventually("the image of the one goes", isCollected, (isGone) => isGone);
    expect(await isInRegistry(images[1]!)).toBe(true);
    const third = await startTestApp(await gitRepository(hello(3)), { stores: variables });
    await third.app.settled();
    expect((await third.call("hello")).body).toBe(3);
    await expect(third.client.collectGarbage({ dryRun: false })).rejects.toMatchObject({ code: "garbage_of_others" });
  });

  async function isInRegistry(imageRef: string): Promise<boolean> {
    const { repository, digest } = parseImageReference(imageRef);
    return (await stores.client.manifestDigest(repository, digest!)) !== undefined;
  }

  it("another object store gets the sources of repositories anew, and it is told what came by upload", async () => {
    const repository = await gitRepository(hello(1));
    const first = await startTestApp(repository);
    await first.synced(repository.head);
    const upload = { name: "uploaded", runtime: "python3.11" };
    await first.client.create("functions", upload, { namespace: "default" });
    const archive = await packArchive([
      { path: "handler.py", mode: "100644", content: Buffer.from(answering("uploaded")) },
    ]);
    await first.client.upload("functions", "uploaded", archive, { namespace: "default" });
    await first.client.create(
      "triggers",
      { name: "uploaded-http", type: "http", function_ref: "uploaded" },
      { namespace: "default" },
    );
    await first.app.settled();
    expect((await first.call("uploaded")).body).toBe("uploaded");
    await first.app.close();

    const variables = await stores.variables();
    const second = await startTestApp(repository, { data: first.data, stores: bucketOf(variables) });
    const moved = { step: "notice", message: expect.stringMatching(/uploaded .*start once more with the data folder/) };
    expect(second.events).toContainEqual(moved);
    const restored = () => second.events.some(({ step }) => step === "stored");
    await eventually("the source is stored anew", restored, (isStored) => isStored);
    await second.app.settled();
    await answers(second, "hello", 1);
    await answers(second, "uploaded", "uploaded");
    await second.app.close();

    const third = await startTestApp(repository, { data: first.data });
    await third.app.settled();
    expect(third.events).not.toContainEqual(moved);
    await answers(third, "uploaded", "uploaded");
  });

  it("a job runs the image that was pushed of it", async () => {
    const manifest = `apiVersion: sless.kube5s.ru/v1alpha1
kind: FunctionJob
metadata: {name: report}
spec: {runtime: python3.11, runID: 1, eventJSON: '{"n": 20}'}
`;
    const code = 'def handle(event):\n    return {"twice": event["n"] * 2}\n';
    const repository = await gitRepository({ "report/job.yaml": manifest, "report/handler.py": code });
    const app = await startTestApp(repository, { stores: await stores.variables() });
    await app.synced(repository.head);
    const { status } = await app.object<"FunctionJob">("jobs", "report");
    expect(status).toMatchObject({ phase: "Succeeded", message: '{"twice":40}' });
    expect(status?.imageRef).toContain("/sless-default_job_report@sha256:");
    expect(await isInRegistry(status!.imageRef!)).toBe(true);
  });
});

const bucketOf = (variables: Record<string, string>) =>
  Object.fromEntries(Object.entries(variables).filter(([name]) => name.startsWith("S3_")));
