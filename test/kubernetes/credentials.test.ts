import { X509Certificate } from "node:crypto";
import { chmod, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openKubernetesClient } from "../../src/kubernetes/index.ts";
import { makeCertificates } from "../support/certificates.ts";
import { manualClock } from "../support/manual-clock.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { base64, clientOf, fails, fakeApiServer, fingerprintOf, ok, writeKubeconfig } from "./api-server.ts";

const GET = { method: "GET", path: "/version" } as const;
/** Longer than files are taken to be as they were. */
const LATER_MS = 31_000;

/** Lets in only who brings this token. */
const wanting =
  (token: () => string): Parameters<typeof fakeApiServer>[0] =>
  (request, response) =>
    request.headers.authorization === `Bearer ${token()}` ? ok(request, response) : fails(401, {})(request, response);

describe("tokens", () => {
  it("of the kubeconfig", async () => {
    const server = await fakeApiServer(wanting(() => "abc"));
    await clientOf(await writeKubeconfig(server, { token: "abc" })).request(GET);
  });

  it("a name and a password", async () => {
    const server = await fakeApiServer();
    await clientOf(await writeKubeconfig(server, { username: "ada", password: "pw" })).request(GET);
    expect(server.authorizations()).toEqual([`Basic ${base64("ada:pw")}`]);
  });

  it("of a file that rotates: at the latest after half a minute", async () => {
    const clock = manualClock();
    const server = await fakeApiServer();
    const tokenFile = join(server.folder, "token");
    await writeFile(tokenFile, "first\n");
    const client = clientOf(await writeKubeconfig(server, { tokenFile: "token" }), { clock });
    await client.request(GET);
    await writeFile(tokenFile, "second\n");
    await client.request(GET);
    clock.advance(LATER_MS);
    await client.request(GET);
    expect(server.authorizations()).toEqual(["Bearer first", "Bearer first", "Bearer second"]);
    expect(server.handshakes()).toBe(1);
  });

  it("of a file that rotates: at once when the old one is refused", async () => {
    let token = "first";
    const server = await fakeApiServer(wanting(() => token));
    const tokenFile = join(server.folder, "token");
    await writeFile(tokenFile, token);
    const client = clientOf(await writeKubeconfig(server, { tokenFile }));
    await client.request(GET);
    token = "second";
    await writeFile(tokenFile, token);
    await Promise.all([client.request(GET), client.request(GET), client.request(GET)]);
    expect(server.authorizations().filter((sent) => sent === "Bearer second").length).toBe(3);
  });

  it("a kubeconfig that was written anew is read anew", async () => {
    let token = "first";
    const server = await fakeApiServer(wanting(() => token));
    const client = clientOf(await writeKubeconfig(server, { token }));
    await client.request(GET);
    token = "second";
    await writeKubeconfig(server, { token });
    await client.request(GET);
  });

  it("one that stays refused is told as that, after one more try", async () => {
    const server = await fakeApiServer(wanting(() => "another"));
    const client = clientOf(await writeKubeconfig(server, { token: "abc" }));
    await expect(client.request(GET)).rejects.toMatchObject({ status: 401 });
    expect(server.asked.length).toBe(2);
  });

  it("a token file that is gone is told by its name", async () => {
    const server = await fakeApiServer();
    const tokenFile = join(server.folder, "token");
    const client = clientOf(await writeKubeconfig(server, { tokenFile }));
    const error = { code: "cluster_unavailable", message: expect.stringContaining(tokenFile) };
    await expect(client.request(GET)).rejects.toMatchObject(error);
  });

  it("a kubeconfig that is gone for a moment does no harm", async () => {
    const clock = manualClock();
    const server = await fakeApiServer();
    const file = await writeKubeconfig(server, { token: "abc" });
    const client = clientOf(file, { clock });
    await rm(file);
    clock.advance(LATER_MS);
    await client.request(GET);
    expect(server.authorizations()).toEqual(["Bearer abc"]);
  });
});

describe("plugins", () => {
  /** A plugin that gives what stands in a file, and counts its runs in another. */
  async function pluginOf(folder: string, answer: object | string) {
    const [script, answerFile, runs] = ["plugin", "answer", "runs"].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    await writeFile(
      script,
      `#!/bin/sh\necho run >> '${runs}'\ncat '${answerFile}' || { echo top-secret >&2; exit 1; }\n`,
    );
    await chmod(script, 0o755);
    const give = (next: object | string) =>
      writeFile(answerFile, typeof next === "string" ? next : JSON.stringify(next));
    await give(answer);
    const user = { exec: { apiVersion: "client.authentication.k8s.io/v1", command: script } };
    return { user, give, answerFile, runs: async () => (await readFile(runs, "utf8")).trim().split("\n").length };
  }
  const credential = (status: object) => ({
    apiVersion: "client.authentication.k8s.io/v1",
    kind: "ExecCredential",
    status,
  });

  it("gives a token, is run once, and again when it is refused", async () => {
    let token = "first";
    const clock = manualClock();
    const server = await fakeApiServer(wanting(() => token));
    const plugin = await pluginOf(server.folder, credential({ token }));
    const client = clientOf(await writeKubeconfig(server, plugin.user), { clock });
    for (let n = 0; n < 5; n += 1) {
      await client.request(GET);
      clock.advance(LATER_MS);
    }
    expect(await plugin.runs()).toBe(1);
    token = "second";
    await plugin.give(credential({ token }));
    await client.request(GET);
    expect(await plugin.runs()).toBe(2);
  });

  it("gives a client certificate", async () => {
    const { ca, cert, key } = makeCertificates();
    const server = await fakeApiServer(ok, { requestCert: true, rejectUnauthorized: true, ca });
    const plugin = await pluginOf(server.folder, credential({ clientCertificateData: cert, clientKeyData: key }));
    await clientOf(await writeKubeconfig(server, plugin.user)).request(GET);
  });

  const broken: Record<string, string | undefined> = {
    "one that fails": undefined,
    "one that answers no JSON": '{"status":{"token":"top-secret"',
  };
  it.each(Object.entries(broken))("%s is told without what it said", async (_name, answer) => {
    const server = await fakeApiServer();
    const plugin = await pluginOf(server.folder, answer ?? "");
    if (answer === undefined) await rm(plugin.answerFile);
    const error = (await clientOf(await writeKubeconfig(server, plugin.user))
      .request(GET)
      .catch((thrown: unknown) => thrown)) as Error;
    expect(error).toMatchObject({ code: "cluster_unavailable" });
    expect(`${error.stack} ${String(error.cause)}`).not.toContain("top-secret");
  });
});

describe("certificates", () => {
  it("a client certificate in files is read anew", async () => {
    const clock = manualClock();
    const [first, second] = [makeCertificates(), makeCertificates()];
    const seen: string[] = [];
    const server = await fakeApiServer(
      (request, response) => {
        seen.push(fingerprintOf(request));
        ok(request, response);
      },
      { requestCert: true, rejectUnauthorized: false },
    );
    const write = ({ cert, key }: typeof first) =>
      Promise.all([writeFile(join(server.folder, "cert"), cert), writeFile(join(server.folder, "key"), key)]);
    await write(first);
    const user = { "client-certificate": "cert", "client-key": "key" };
    const client = clientOf(await writeKubeconfig(server, user), { clock });
    await client.request(GET);
    await write(second);
    clock.advance(LATER_MS);
    await client.request(GET);
    expect(seen).toEqual([first, second].map(({ cert }) => new X509Certificate(cert).fingerprint256));
    expect(server.handshakes()).toBe(2);
  });

  it("an authority in a file that rotates is trusted from then on, and the old one no more", async () => {
    const clock = manualClock();
    const server = await fakeApiServer();
    const caFile = join(server.folder, "ca.crt");
    await writeFile(caFile, server.certificates.ca);
    const file = await writeKubeconfig(server, { token: "abc" }, { "certificate-authority": caFile });
    const client = clientOf(file, { clock });
    await client.request(GET);
    const next = makeCertificates();
    server.tlsServer.setSecureContext({ key: next.key, cert: next.cert });
    await writeFile(caFile, next.ca);
    clock.advance(LATER_MS);
    await client.request(GET);
    expect(server.handshakes()).toBe(2);
  });
});

describe("a kubeconfig that cannot be used", () => {
  const cases: Record<string, { text?: string; context?: string; says: string }> = {
    "is not there": { says: "ENOENT" },
    "is no YAML": { text: "users: [{token: top-secret", says: "no valid kubeconfig" },
    "names no cluster": { text: JSON.stringify({ clusters: [], users: [], contexts: [] }), says: "names no cluster" },
  };
  it.each(Object.entries(cases))("%s", async (_name, { text, says }) => {
    const file = join(await temporaryFolder(), "config");
    if (text !== undefined) await writeFile(file, text);
    const open = () => openKubernetesClient({ from: { file } });
    expect(open).toThrow(expect.objectContaining({ code: "settings_invalid", message: expect.stringContaining(says) }));
    expect(open).not.toThrow(/top-secret/);
  });

  it("a pod without a service account says so", () => {
    const open = () => openKubernetesClient({ from: "in-cluster" });
    expect(open).toThrow(expect.objectContaining({ code: "settings_invalid" }));
  });
});
