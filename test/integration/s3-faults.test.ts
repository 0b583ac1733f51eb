import { afterAll, beforeAll, expect, it } from "vitest";
import { findCondition, sourceKey } from "../../src/apis/index.ts";
import { openS3Store } from "../../src/storage/s3/index.ts";
import { answering, pythonFunction, startTestApp, type TestApp } from "../support/embedded.ts";
import { eventually } from "../support/eventually.ts";
import { type GitRepository, gitRepository } from "../support/git-repository.ts";
import { describeWithServers } from "../support/kubernetes/index.ts";
import { type S3Fault, type S3Proxy, s3Answer, s3Proxy } from "../support/s3-proxy.ts";
import { openS3Server, type S3Server } from "../support/s3-server.ts";
import { bucketVariables } from "../support/stores.ts";

const hello = (value: unknown) => pythonFunction("hello", answering(value));

describeWithServers("sources in S3 behind a network that fails", () => {
  let server: S3Server;
  beforeAll(async () => {
    server = await openS3Server();
  });
  afterAll(() => server?.close());

  interface World {
    readonly app: TestApp;
    readonly proxy: S3Proxy;
    readonly repository: GitRepository;
    readonly bucket: string;
    answers(value: unknown): Promise<unknown>;
    push(value: unknown): Promise<string>;
  }

  async function serving(): Promise<World> {
    const proxy = await s3Proxy(server.endpoint);
    const bucket = await server.makeBucket();
    const repository = await gitRepository(hello("one"));
    const stores = { ...bucketVariables(server, bucket), S3_ENDPOINT: proxy.endpoint };
    const app = await startTestApp(repository, { stores });
    await app.synced(repository.head);
    const answers = (value: unknown) =>
      eventually(
        `it answers ${value}`,
        async () => (await app.call("hello")).body,
        (body) => body === value,
      );
    await answers("one");
    return { app, proxy, repository, bucket, answers, push: (value) => repository.commit(String(value), hello(value)) };
  }

  const functionStatus = async ({ app }: World) => (await app.object<"Function">("functions", "hello")).status!;

  it.each<[string, S3Fault | ((request: { method: string }) => S3Fault), RegExp]>([
    ["is busy", s3Answer(503, "SlowDown"), /SlowDown|answered 503/],
    [
      "takes the credentials no more",
      ({ method }) => (method === "HEAD" ? { status: 403 } : s3Answer(403, "ExpiredToken")),
      /refused the credentials.*S3_ACCESS_KEY/,
    ],
    [
      "has lost the bucket",
      ({ method }) => (method === "HEAD" ? { status: 404 } : s3Answer(404, "NoSuchBucket")),
      /the bucket does not exist; make it/,
    ],
    ["ends every connection", "cut", /the connection to the S3 server broke/],
  ])("a server that %s is told, what serves goes on, and the push is done once it is well", async (_, fault, told) => {
    const world = await serving();
    const { app, proxy, push, answers } = world;
    proxy.fault = (request) => (typeof fault === "function" ? fault(request) : fault);
    await push("two");
    const repository = await eventually(
      "the repository tells it",
      () => app.object<"Repository">("repositories", "test"),
      ({ status }) => findCondition(status?.conditions, "Ready")?.status === "False",
    );
    const ready = findCondition(repository.status?.conditions, "Ready")!;
    expect(ready.message).toMatch(told);
    expect(ready.message).not.toContain(server.credentials.secretAccessKey);
    expect(await app.call("hello")).toEqual({ status: 200, body: "one" });
    expect((await functionStatus(world)).phase).toBe("Ready");
    proxy.fault = () => undefined;
    await answers("two");
  });

  it("an archive that vanished is told by its key and what to do, what serves goes on, and it is stored anew", async () => {
    const world = await serving();
    const { app, proxy, push, answers, bucket } = world;
    proxy.fault = ({ method, path }) =>
      method === "GET" && path.split("?")[0]!.endsWith(".zip") ? s3Answer(404, "NoSuchKey") : undefined;
    await push("two");
    const isFailed = ({ phase }: { phase?: string }) => phase === "Failed";
    const failed = await eventually("the build fails", () => functionStatus(world), isFailed);
    const { spec } = await app.object<"Function">("functions", "hello");
    expect(failed.message).toContain(`The source archive ${spec.s3Key} cannot be read: it is not there.`);
    expect(failed.message).toContain("sless reconcile");
    expect(findCondition(failed.conditions, "Serving")?.status).toBe("True");
    expect(await app.call("hello")).toEqual({ status: 200, body: "one" });
    const direct = await openS3Store({
      ...{ endpoint: server.endpoint, bucket, credentials: server.credentials },
    });
    await direct.delete(spec.s3Key!);
    proxy.fault = () => undefined;
    await app.client.reconcile("test", { namespace: "default" });
    await answers("two");
    expect(
      await direct.has(sourceKey({ kind: "Function", namespace: "default", name: "hello" }, failed.sourceDigest!)),
    ).toBe(true);
    direct.close();
  });
});
