import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../src/controller/index.ts";
import { type BlobFile, digestOf, type RegistryClient, registryClient } from "../../src/registry/index.ts";
import { eventually } from "../support/eventually.ts";
import { describeWithServers } from "../support/kubernetes/index.ts";
import { openRegistryKind, TEAM } from "../support/registry-kinds.ts";
import { registryProxy } from "../support/registry-proxy.ts";
import { openRegistryServer, type RegistryProgram } from "../support/registry-server.ts";
import { type ShortTokens, shortTokens } from "../support/short-tokens.ts";
import { slowLink } from "../support/slow-link.ts";
import { testClock } from "../support/test-clock.ts";
import { openTokenServer } from "../support/token-server.ts";

function blobOf(content: Uint8Array | string) {
  const bytes = Buffer.from(content);
  return { digest: digestOf(bytes), bytes };
}

describeWithServers("a registry with a token service", () => {
  interface Opened {
    readonly tokens: ShortTokens;
    readonly host: string;
    connect(options?: Partial<Parameters<typeof registryClient>[0]>): RegistryClient;
  }

  async function open(): Promise<Opened> {
    const tokens = await shortTokens(TEAM);
    const server = await openRegistryServer({ tokens });
    onTestFinished(() => server.close());
    const connect: Opened["connect"] = (options) => {
      const settings = { host: server.host, plainHttp: true, clock: systemClock, credentials: TEAM, ...options };
      const client = registryClient(settings);
      onTestFinished(() => client.close());
      return client;
    };
    return { tokens, host: server.host, connect };
  }

  const untilEnded = ({ tokens, host }: Opened) =>
    eventually(
      "the registry takes the token no more",
      async () => (await fetch(`http://${host}/v2/`, { headers: { authorization: `Bearer ${tokens.last}` } })).status,
      (status) => status === 401,
    );

  /** A blob whose bytes wait for something after the first half, when they are read for the first time. */
  function heldBlob(content: Buffer, first: number, held: () => Promise<unknown>): BlobFile & { reads: number } {
    const blob = {
      ...{ digest: digestOf(content), size: content.byteLength, reads: 0 },
      read(from: number) {
        blob.reads += 1;
        const isFirst = blob.reads === 1;
        async function* parts() {
          if (isFirst && first > 0) yield content.subarray(0, first);
          if (isFirst) await held();
          yield content.subarray(isFirst ? first : from);
        }
        return Readable.from(parts(), { objectMode: false });
      },
    };
    return blob;
  }

  it("gives a new token when one ends between the beginning of a push and its bytes", async () => {
    const opened = await open();
    const { tokens, connect } = opened;
    const client = connect();
    tokens.validSeconds = 5;
    const blob = heldBlob(randomBytes(300_000), 0, async () => {
      await untilEnded(opened);
      tokens.validSeconds = 300;
    });
    expect(await client.putBlobFile("team/late", blob, [])).toBe("uploaded");
    expect(Buffer.compare((await client.blob("team/late", blob.digest))!, await whole(blob))).toBe(0);
  });

  it("gives a new token when one ends and the connection breaks in mid-push", async () => {
    const opened = await open();
    const link = await slowLink(opened.host, { latencyMs: 1, bytesPerSecond: 4_000_000 });
    const client = opened.connect({ host: link.host });
    opened.tokens.validSeconds = 5;
    const blob = heldBlob(randomBytes(2_000_000), 1_000_000, async () => {
      await untilEnded(opened);
      opened.tokens.validSeconds = 300;
      link.cut();
    });
    expect(await client.putBlobFile("team/cut", blob, [])).toBe("uploaded");
    expect(Buffer.compare((await client.blob("team/cut", blob.digest))!, await whole(blob))).toBe(0);
  });

  it("is asked for another token before the known one ends", async () => {
    const { tokens, connect } = await open();
    const clock = testClock();
    const client = connect({ clock: { ...clock, setTimer: systemClock.setTimer } });
    for (const name of ["one", "two"]) await client.hasBlob("team/one", blobOf(name).digest);
    expect(tokens.given).toEqual([["repository:team/one:pull"]]);
    clock.forward(295_000);
    await client.hasBlob("team/one", blobOf("three").digest);
    expect(tokens.given).toHaveLength(2);
  });

  it("is sent no bytes with a token that has ended by its own word", async () => {
    const { tokens, host, connect } = await open();
    const proxy = await registryProxy(host);
    const clock = testClock();
    const client = connect({ host: proxy.host, clock: { ...clock, setTimer: systemClock.setTimer } });
    const blob = heldBlob(randomBytes(200_000), 0, async () => undefined);
    proxy.fault = ({ method, path }) => {
      // The push has begun: its token ends before the bytes go.
      if (method === "POST" && path.includes("/uploads/")) clock.forward(295_000);
      return undefined;
    };
    await client.putBlobFile("team/spared", blob, []);
    expect(blob.reads).toBe(1);
    expect(tokens.given).toHaveLength(3);
  });

  it("that is down is told in words, and no password", async () => {
    const { tokens, connect } = await open();
    tokens.isDown = true;
    const error = await connect({ tries: 1 })
      .putBlob("team/one", blobOf("x"))
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ status: 503, message: expect.stringContaining("a token of the registry") });
    expect(String(error)).not.toContain(TEAM.password);
  });

  it("lets everybody pull what is public, and nobody push there", async () => {
    const { connect } = await open();
    const blob = blobOf("for all");
    await connect().putBlob("public/base", blob);
    const anybody = connect({ credentials: undefined });
    expect(await anybody.hasBlob("public/base", blob.digest)).toBe(true);
    await expect(anybody.hasBlob("team/base", blob.digest)).rejects.toMatchObject({ status: 401 });
    await expect(anybody.putBlob("public/base", blobOf("mine"))).rejects.toMatchObject({ status: 401 });
  });

  it("asks for one token that may read one repository and write the other when it mounts", async () => {
    const { tokens, connect } = await open();
    const blob = blobOf("shared");
    const client = connect();
    await client.putBlob("team/from", blob);
    tokens.given.length = 0;
    expect(
      await client.mountBlob({ digest: blob.digest, size: blob.bytes.byteLength, from: "team/from", to: "team/to" }),
    ).toBe("mounted");
    expect(tokens.given).toContainEqual(["repository:team/to:pull,push", "repository:team/from:pull"]);
  });

  async function whole(blob: BlobFile): Promise<Buffer> {
    return Buffer.concat(await blob.read(0).toArray());
  }
});

describeWithServers("somebody else's repository", () => {
  it.each<RegistryProgram>(["registry", "docker-registry"])(
    "in %s is neither read nor mounted from, and a push goes on without it",
    async (program) => {
      const registry = await openRegistryKind({ program, login: "tokens" });
      onTestFinished(() => registry.close());
      const { client } = registry;
      const blob = blobOf("what both have");
      await expect(client.manifest("others/base", "1")).rejects.toMatchObject({ status: 401 });
      const mounted = client.mountBlob({ digest: blob.digest, size: 1, from: "others/base", to: "team/mine" });
      await expect(mounted).rejects.toMatchObject({ status: 401 });
      const file = { digest: blob.digest, size: blob.bytes.byteLength, read: () => Readable.from([blob.bytes]) };
      expect(await client.putBlobFile("team/mine", file, ["others/base"])).toBe("uploaded");
    },
  );

  it("is opened by a refresh token as `docker login` leaves one", async () => {
    const tokens = await openTokenServer([TEAM]);
    onTestFinished(() => tokens.close());
    const registry = await openRegistryServer({ tokens });
    onTestFinished(() => registry.close());
    const basic = Buffer.from(`${TEAM.username}:${TEAM.password}`).toString("base64");
    const asked = await fetch(`${tokens.realm}?service=${tokens.service}&offline_token=true`, {
      headers: { authorization: `Basic ${basic}` },
    });
    const { refresh_token: identityToken } = (await asked.json()) as { refresh_token: string };
    const credentials = { username: "", password: "", identityToken };
    const client = registryClient({ host: registry.host, plainHttp: true, clock: systemClock, credentials });
    onTestFinished(() => client.close());
    const blob = blobOf("by a refresh token");
    await client.putBlob("team/one", blob);
    expect(await client.hasBlob("team/one", blob.digest)).toBe(true);
  });
});
