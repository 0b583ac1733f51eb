import type { IncomingHttpHeaders, RequestListener } from "node:http";
import { createServer } from "node:https";
import { expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../src/controller/index.ts";
import { digestOf, type RegistryClient, registryClient } from "../../src/registry/index.ts";
import { makeCertificates } from "../support/certificates.ts";
import { httpServer } from "../support/http-server.ts";
import { TEAM } from "../support/registry-kinds.ts";

const BLOB = { digest: digestOf(Buffer.from("layer")), bytes: Buffer.from("layer") };
const BASIC = `Basic ${Buffer.from(`${TEAM.username}:${TEAM.password}`).toString("base64")}`;

/** A server that notes who it is told to be talking to. */
async function noting(answer: RequestListener) {
  const told: (string | undefined)[] = [];
  const { origin } = await httpServer((request, response) => {
    told.push(request.headers.authorization);
    answer(request, response);
  });
  return { origin, told };
}

/** A token service that gives one to everybody. */
const tokenService = () => noting((_, answer) => void answer.end(JSON.stringify({ token: "given" })));

/** A registry that wants a token of this realm, and then answers so. */
function registry(realm: string, answer: RequestListener): RequestListener {
  return (request, response) => {
    if (isKnown(request.headers)) return answer(request, response);
    const challenge = `Bearer realm="${realm}",service="test"`;
    response.writeHead(401, { "www-authenticate": challenge }).end();
  };
}

function isKnown({ authorization }: IncomingHttpHeaders): boolean {
  return authorization === "Bearer given";
}

function connect(origin: string, options: Partial<Parameters<typeof registryClient>[0]> = {}): RegistryClient {
  const host = new URL(origin).host;
  const client = registryClient({ host, plainHttp: true, clock: systemClock, credentials: TEAM, tries: 1, ...options });
  onTestFinished(() => client.close());
  return client;
}

it("a password goes to the token service that the registry names, and the token to the registry", async () => {
  const tokens = await tokenService();
  const { origin, told } = await noting(registry(`${tokens.origin}/token`, (_, answer) => void answer.end()));
  expect(await connect(origin).hasBlob("team/one", BLOB.digest)).toBe(true);
  expect(tokens.told).toEqual([BASIC]);
  expect(told).toEqual([undefined, "Bearer given"]);
});

it("a password goes straight to a registry that asks for it, as ECR does, and not before it asks", async () => {
  const { origin, told } = await noting(({ headers }, answer) => {
    const challenge = 'Basic realm="https://1.dkr.ecr.eu-west-1.amazonaws.com/",service="ecr.amazonaws.com"';
    if (headers.authorization === BASIC) answer.end();
    else answer.writeHead(401, { "www-authenticate": challenge }).end();
  });
  const client = connect(origin);
  for (let asked = 0; asked < 2; asked += 1) expect(await client.hasBlob("team/one", BLOB.digest)).toBe(true);
  expect(told).toEqual([undefined, BASIC, BASIC]);
});

it.each(["Basic", "Bearer"])(
  "credentials that were renewed are taken when a registry that asks for %s refuses the old ones",
  async (scheme) => {
    let valid = "old";
    const asks = `Basic ${Buffer.from("team:new").toString("base64")}`;
    const isRight = (header = "") => header === `Basic ${Buffer.from(`team:${valid}`).toString("base64")}`;
    const tokens = await noting(({ headers }, answer) => {
      if (isRight(headers.authorization)) answer.end(JSON.stringify({ token: valid, expires_in: 3600 }));
      else answer.writeHead(401).end();
    });
    const challenge = scheme === "Basic" ? 'Basic realm="r"' : `Bearer realm="${tokens.origin}/token",service="test"`;
    const { origin, told } = await noting(({ headers: { authorization } }, answer) => {
      if (scheme === "Basic" ? isRight(authorization) : authorization === `Bearer ${valid}`) answer.end();
      else answer.writeHead(401, { "www-authenticate": challenge }).end();
    });
    const credentials = async () => ({ username: "team", password: valid });
    const client = connect(origin, { credentials });
    expect(await client.hasBlob("team/one", BLOB.digest)).toBe(true);
    valid = "new";
    expect(await client.hasBlob("team/one", BLOB.digest)).toBe(true);
    await client.putBlob("team/one", BLOB);
    expect(scheme === "Basic" ? told.at(-1) : tokens.told.at(-1)).toBe(asks);
  },
);

it("the host that a registry redirects to for a blob is told nothing", async () => {
  const tokens = await tokenService();
  const storage = await noting((_, answer) => void answer.end(BLOB.bytes));
  const { origin } = await noting(
    registry(
      `${tokens.origin}/token`,
      (_, answer) => void answer.writeHead(307, { location: `${storage.origin}/blob` }).end(),
    ),
  );
  expect(await connect(origin).blob("team/one", BLOB.digest)).toEqual(BLOB.bytes);
  expect(storage.told).toEqual([undefined]);
});

it("a host that was redirected to may ask for a password, and gets none", async () => {
  const [tokens, thief] = [await tokenService(), await tokenService()];
  const storage = await noting((_, answer) => {
    answer.writeHead(401, { "www-authenticate": `Bearer realm="${thief.origin}/token"` }).end();
  });
  const { origin } = await noting(
    registry(
      `${tokens.origin}/token`,
      (_, answer) => void answer.writeHead(307, { location: `${storage.origin}/blob` }).end(),
    ),
  );
  await expect(connect(origin).blob("team/one", BLOB.digest)).rejects.toMatchObject({ status: 401 });
  expect(storage.told).toEqual([undefined]);
  expect(thief.told).toEqual([]);
});

it.each([
  ["takes it", 201],
  ["asks for a password", 401],
])("the host that a registry names as the place of an upload is told nothing when it %s", async (_, status) => {
  const [tokens, thief] = [await tokenService(), await tokenService()];
  const elsewhere = await noting((request, answer) => {
    request.resume();
    answer.writeHead(status, { "www-authenticate": `Bearer realm="${thief.origin}/token"` }).end();
  });
  const { origin } = await noting(
    registry(`${tokens.origin}/token`, ({ method }, answer) => {
      if (method === "HEAD") answer.writeHead(404).end();
      else answer.writeHead(202, { location: `${elsewhere.origin}/upload` }).end();
    }),
  );
  const pushed = connect(origin).putBlob("team/one", BLOB);
  await (status === 201 ? pushed : expect(pushed).rejects.toMatchObject({ status }));
  expect(elsewhere.told).toEqual([undefined]);
  expect(thief.told).toEqual([]);
});

it("a registry with TLS may neither name a token service without it nor redirect to a host without it", async () => {
  const thief = await noting((_, answer) => void answer.end(JSON.stringify({ token: "given" })));
  const { ca, cert, key } = makeCertificates();
  const answer: RequestListener = ({ url = "" }, response) => {
    if (url.includes("/manifests/"))
      response.writeHead(401, { "www-authenticate": `Bearer realm="${thief.origin}/token"` }).end();
    else response.writeHead(307, { location: `${thief.origin}/blob` }).end();
  };
  const { port } = await httpServer(answer, createServer({ cert, key }, answer));
  const client = connect(`https://127.0.0.1:${port}`, { plainHttp: false, ca });
  await expect(client.manifest("team/one", "1")).rejects.toThrow(/token service http:\S+ has no TLS/);
  await expect(client.blob("team/one", BLOB.digest)).rejects.toThrow(/redirects to http:\S+, where it is not followed/);
  expect(thief.told).toEqual([]);
});
