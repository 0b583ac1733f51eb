import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { networkPolicy, openRemoteRepositories } from "../../../src/source/index.ts";
import { basicAuth, gitHttpServer } from "../../support/git-http-server.ts";
import { httpServer } from "../../support/http-server.ts";
import { processesWith } from "../../support/process-tree.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { ADAPTERS } from "./adapters.ts";
import { filesOf, remoteWorld, type Secrets } from "./remote-world.ts";

const NATIVE = ADAPTERS[0]!;
const PASSWORD = "hunter2-very-secret";
const AUTH = { username: "ada", password: PASSWORD };
const SECRETS: Secrets = { "demo/git": { username: "ada\n", password: `${PASSWORD}\n` } };

const failsWith = (code: string, text: string) =>
  expect.objectContaining({ code, message: expect.stringContaining(text) });

describe.each(ADAPTERS)("with $name", (adapter) => {
  it("a private repository is read with the user and password of a secret", async () => {
    const world = await remoteWorld(adapter, { a: "1" }, { auth: AUTH, secrets: SECRETS });
    const reader = await world.reader({ secret: "git" });
    expect(await filesOf(reader, (await reader.resolve({})).tree)).toEqual({ a: "1" });
    const sent = new Set(world.server.requests().map(({ authorization }) => authorization));
    expect(sent).toEqual(new Set([basicAuth(AUTH)]));
    await expect((await world.reader()).resolve({})).rejects.toThrow(failsWith("credentials_refused", "401"));
  });

  it("a certificate of an own authority is believed with its ca.crt alone", async () => {
    const secrets: Secrets = { "demo/git": {} };
    const world = await remoteWorld(adapter, { a: "1" }, { tls: true, secrets });
    const untrusted = failsWith("repository_unreachable", "its certificate is not trusted");
    await expect((await world.reader()).resolve({})).rejects.toThrow(untrusted);
    secrets["demo/git"] = { "ca.crt": world.server.ca! };
    const reader = await world.reader({ secret: "git" });
    expect(await filesOf(reader, (await reader.resolve({})).tree)).toEqual({ a: "1" });
  });
});

it.each<[string, Record<string, string>, string]>([
  ["a token", { token: "t0ken" }, basicAuth({ username: "oauth2", password: "t0ken" })],
  ["a token with a user", { token: "t0ken", username: "ada" }, basicAuth({ username: "ada", password: "t0ken" })],
  ["a user and password", { username: "ada", password: "p:w" }, basicAuth({ username: "ada", password: "p:w" })],
])("%s is sent as it is wanted", async (_, values, header) => {
  const world = await remoteWorld(NATIVE, { a: "1" }, { secrets: { "demo/git": values } });
  await (await world.reader({ secret: "git" })).resolve({});
  expect(world.server.requests()[0]!.authorization).toBe(header);
});

it.each<[string, Record<string, string> | undefined]>([
  ["that is not there", undefined],
  ["without a password", { username: "ada" }],
  ["without a user", { password: "x" }],
  ["of empty values", { token: "\n" }],
])("a secret %s is told, and nothing is asked without it", async (_, values) => {
  const world = await remoteWorld(NATIVE, { a: "1" }, { secrets: values ? { "demo/git": values } : {} });
  await expect((await world.reader({ secret: "git" })).resolve({})).rejects.toThrow(
    failsWith("credentials_missing", "Secret git"),
  );
  expect(world.server.requests()).toEqual([]);
});

it("a ca.crt that is none is told, and so is a server that has no such certificate", async () => {
  const secrets: Secrets = { "demo/git": { "ca.crt": "no certificate" } };
  const world = await remoteWorld(NATIVE, { a: "1" }, { tls: true, secrets });
  const told = failsWith("repository_unreachable", world.server.url);
  await expect((await world.reader({ secret: "git" })).resolve({})).rejects.toThrow(told);
});

it("a credential that changed is used at the next look, and what the old one fetched is not read with it", async () => {
  const secrets: Secrets = { "demo/git": { username: "ada", password: "old" } };
  const world = await remoteWorld(NATIVE, { a: "1" }, { secrets });
  const reader = await world.reader({ secret: "git" });
  await reader.resolve({});
  secrets["demo/git"] = { username: "ada", password: "new" };
  world.server.requests();
  await reader.resolve({});
  const sent = world.server.requests().map(({ authorization }) => authorization);
  expect(new Set(sent)).toEqual(new Set([basicAuth({ username: "ada", password: "new" })]));
  expect(await readdir(world.folder)).toHaveLength(2);
});

it("a credential is in no command line, no file of the mirror and no error", async () => {
  const world = await remoteWorld(NATIVE, { a: "1" }, { auth: AUTH, secrets: SECRETS });
  const { server } = world;
  const secretBytes = [PASSWORD, basicAuth(AUTH).slice("Basic ".length)];
  const seen = { fetches: 0, leaks: 0 };
  server.setFault(() => {
    seen.fetches += processesWith("x-sless-fetch").length + processesWith("git-remote-http").length;
    seen.leaks += secretBytes.flatMap((text) => processesWith(text)).length;
    return undefined;
  });
  const reader = await world.reader({ secret: "git" });
  await reader.resolve({});
  expect(seen.fetches).toBeGreaterThan(0);
  expect(seen.leaks).toBe(0);
  for (const name of await readdir(world.folder, { recursive: true })) {
    const content = await readFile(join(world.folder, name), "latin1").catch(() => "");
    expect(secretBytes.filter((text) => content.includes(text))).toEqual([]);
  }
  // A server that sends back what it was told.
  server.setFault(({ authorization, line }) =>
    line.startsWith("GET")
      ? {
          status: 200,
          headers: { "content-type": "application/x-git-upload-pack-advertisement" },
          body: ((text) => `${(text.length + 4).toString(16).padStart(4, "0")}${text}`)(`ERR ${authorization}`),
        }
      : undefined,
  );
  const error: Error = await reader.resolve({}).catch((thrown) => thrown);
  expect(error.message).toContain("***");
  expect(secretBytes.filter((text) => error.message.includes(text))).toEqual([]);
});

describe("redirects", () => {
  it("are followed to where the repository is, and the credential stays with its host", async () => {
    const world = await remoteWorld(NATIVE, { a: "1" }, { secrets: SECRETS });
    const first = await httpServer((request, response) => {
      authorizations.push(request.headers.authorization);
      response.writeHead(301, { location: `${world.server.origin}${request.url}` }).end();
    });
    const authorizations: (string | undefined)[] = [];
    const reader = await world.reader({ url: `${first.origin}/repository.git`, secret: "git" });
    expect(await filesOf(reader, (await reader.resolve({})).tree)).toEqual({ a: "1" });
    expect(new Set(authorizations)).toEqual(new Set([basicAuth(AUTH)]));
    expect(world.server.requests().filter(({ authorization }) => authorization !== undefined)).toEqual([]);
  });

  it("on the same host keep the credential", async () => {
    const world = await remoteWorld(NATIVE, { a: "1" }, { auth: AUTH, secrets: SECRETS });
    world.server.setFault(({ line }) =>
      line.startsWith("GET /old.git/")
        ? { status: 302, headers: { location: line.split(" ")[1]!.replace("old", "repository") } }
        : undefined,
    );
    const reader = await world.reader({ url: `${world.server.origin}/old.git`, secret: "git" });
    expect(await reader.resolve({})).toMatchObject({ commit: world.repository.head });
  });

  const to = (location: string) => ({ status: 302, headers: { location } });
  it.each<[string, (path: string) => { status: number; headers?: Record<string, string> }, string]>([
    ["in a circle", (path) => to(path), "redirects more than 5 times"],
    ["to a page to sign in", () => to("/users/sign_in"), "no Git repository"],
    ["to a file", () => to("file:///etc/passwd"), "no http(s) address"],
    ["to another user", (path) => to(`http://eve:pw@127.0.0.1${path}`), "address with a credential"],
    ["to nowhere", () => ({ status: 302 }), "without an address"],
  ])("%s are not followed", async (_, answer, cause) => {
    const world = await remoteWorld(NATIVE, { a: "1" });
    world.server.setFault(({ line }) => answer(line.split(" ")[1]!));
    await expect((await world.reader()).resolve({})).rejects.toThrow(failsWith("repository_unreachable", cause));
  });

  it("from https to http are not followed", async () => {
    const plain = await remoteWorld(NATIVE, { a: "1" });
    const secrets: Secrets = { "demo/git": {} };
    const world = await remoteWorld(NATIVE, { a: "1" }, { tls: true, secrets });
    secrets["demo/git"] = { "ca.crt": world.server.ca! };
    world.server.setFault(({ line }) => to(`${plain.server.origin}${line.split(" ")[1]}`));
    const reader = await world.reader({ secret: "git" });
    await expect(reader.resolve({})).rejects.toThrow(failsWith("repository_unreachable", "from https to http"));
    expect(plain.server.requests()).toEqual([]);
  });

  it("to an address that is not allowed reach nobody", async () => {
    // Linux answers on all of 127.0.0.0/8.
    const world = await remoteWorld(NATIVE, { a: "1" }, { allowed: ["127.0.0.1"] });
    const hidden = await gitHttpServer(world.repository.dir);
    const { port } = new URL(hidden.origin);
    for (const host of ["127.0.0.2", "[::ffff:127.0.0.2]", "2130706434", "[::1]"]) {
      world.server.setFault(({ line }) => to(`http://${host}:${port}${line.split(" ")[1]}`));
      const refused = failsWith("address_refused", "loopback, link-local or private");
      await expect((await world.reader()).resolve({})).rejects.toThrow(refused);
    }
    expect(hidden.requests()).toEqual([]);
  });
});

it.each(["127.0.0.1", "localhost", "[::1]", "0x7f.1"])("%s is not reached unless it is configured", async (host) => {
  const world = await remoteWorld(NATIVE, { a: "1" }, { allowed: [] });
  const url = `http://${host}:${new URL(world.server.origin).port}/repository.git`;
  await expect((await world.reader({ url })).resolve({})).rejects.toThrow(failsWith("address_refused", "SLESS_GIT_"));
  expect(world.server.requests()).toEqual([]);
});

it("a folder that cannot be made is told", async () => {
  const folder = join(await temporaryFolder(), "file");
  await writeFile(folder, "");
  const opening = openRemoteRepositories({
    folder: join(folder, "mirrors"),
    readSecret: async () => undefined,
    policy: networkPolicy([]),
    fetcher: NATIVE.fetcher,
    openReader: NATIVE.openReader,
  });
  await expect(opening).rejects.toThrow(failsWith("storage_unavailable", "mirrors"));
});
