import { expect, it } from "vitest";
import { type KubernetesAuthorityOptions, kubernetesAuthority } from "../../../src/auth/kubernetes/index.ts";
import { SlessError } from "../../../src/errors/index.ts";
import { ApiError, type ApiRequest } from "../../../src/kubernetes/index.ts";
import { testClock } from "../../support/test-clock.ts";

const ADA = { username: "ada", uid: "1", groups: ["devs"], extra: {} };
const READ = { verb: "get", group: "sless.kube5s.ru", resource: "functions", namespace: "a", name: "hello" };

type Status = Record<string, unknown>;

/** An authority over an API server that answers reviews with these statuses. */
function openAuthority(
  statuses: { token?: Status; access?: Status },
  options: Partial<KubernetesAuthorityOptions> = {},
) {
  const clock = testClock();
  const asked: unknown[] = [];
  let fault: Error | undefined;
  const request = async ({ path, body }: ApiRequest) => {
    asked.push(body);
    if (fault) throw fault;
    return { status: path.includes("tokenreviews") ? statuses.token : statuses.access };
  };
  const authority = kubernetesAuthority({ client: { request: request as never }, clock, ...options });
  return {
    authority,
    clock,
    asked,
    fail: (error: Error) => {
      fault = error;
    },
  };
}

const valid = { authenticated: true, user: { username: "ada", groups: ["devs"] } };

it.each<[string, Status | undefined]>([
  ["is refused", { authenticated: false, error: "invalid bearer token, Token has been invalidated" }],
  ["is not judged at all", undefined],
  ["stands for nobody", { authenticated: true, user: {} }],
  ["stands for the anonymous user", { authenticated: true, user: { username: "system:anonymous" } }],
])("a token that %s lets nobody in", async (_name, token) => {
  const { authority } = openAuthority({ ...(token ? { token } : {}) });
  const refusal = await authority.authenticate("t").catch((error: unknown) => error);
  expect(refusal).toMatchObject({ code: "unauthenticated", status: 401 });
  // Why is told to nobody outside.
  expect(String(refusal)).not.toContain("invalidated");
});

it.each([
  ["the audience is another", ["other"], false],
  ["no audience is told, for that is the API server's", undefined, false],
  ["the audience is ours", ["other", "sless-gateway"], true],
])("with audiences wanted, when %s", async (_name, audiences, lets) => {
  const { authority, asked } = openAuthority({ token: { ...valid, audiences } }, { audiences: ["sless-gateway"] });
  const outcome = await authority.authenticate("t").then(
    ({ username }) => username,
    (error: SlessError) => error.code,
  );
  expect(outcome).toBe(lets ? "ada" : "unauthenticated");
  expect(asked).toMatchObject([{ spec: { token: "t", audiences: ["sless-gateway"] } }]);
});

it("a token is asked for once a minute, a refused one every ten seconds", async () => {
  for (const [token, every] of [
    [valid, 60_000],
    [{ authenticated: false }, 10_000],
  ] as const) {
    const { authority, asked, clock } = openAuthority({ token });
    const authenticate = () => authority.authenticate("t").catch(() => undefined);
    await authenticate();
    clock.forward(every - 1);
    await authenticate();
    expect(asked).toHaveLength(1);
    clock.forward(1);
    await authenticate();
    expect(asked).toHaveLength(2);
  }
});

it("a token counts no longer than it lives itself", async () => {
  const { authority, asked, clock } = openAuthority({ token: valid }, { staleMs: 600_000 });
  const claims = Buffer.from(JSON.stringify({ exp: clock.now().getTime() / 1_000 + 5 })).toString("base64url");
  const token = `e30.${claims}.sig`;
  await authority.authenticate(token);
  clock.forward(4_999);
  await authority.authenticate(token);
  expect(asked).toHaveLength(1);
  clock.forward(1);
  await authority.authenticate(token);
  expect(asked).toHaveLength(2);
});

it("a right counts for 20 seconds, a refusal for 10, each for the very subject", async () => {
  for (const [allowed, every] of [
    [true, 20_000],
    [false, 10_000],
  ] as const) {
    const { authority, asked, clock } = openAuthority({ access: { allowed } });
    const ask = (subject = ADA) => authority.authorize(subject, READ).catch(() => undefined);
    await ask();
    await ask();
    expect(asked).toHaveLength(1);
    await ask({ ...ADA, groups: [] });
    expect(asked).toHaveLength(2);
    clock.forward(every);
    await ask();
    expect(asked).toHaveLength(3);
  }
});

it.each<[string, Status | undefined]>([
  ["does not say", undefined],
  ["could not decide", { evaluationError: "role not found" }],
  ["denies in spite of an allowance", { allowed: true, denied: true }],
])("when the API server %s, it is a no", async (_name, access) => {
  const { authority } = openAuthority({ ...(access ? { access } : {}) });
  await expect(authority.authorize(ADA, READ)).rejects.toMatchObject({ code: "access_denied" });
});

it.each<[string, Error]>([
  ["does not answer", new SlessError("cluster_unavailable", { cause: "connect ECONNREFUSED 10.0.0.1:443" })],
  ["refuses sless itself", new ApiError(403, { message: "sless-api cannot create tokenreviews" })],
  ["fails", new ApiError(500, { message: "etcd" })],
])("when the API server %s, nobody may anything, and nobody is told why", async (_name, error) => {
  const { authority, fail } = openAuthority({ token: valid, access: { allowed: true } });
  fail(error);
  for (const refused of [authority.authenticate("t"), authority.authorize(ADA, READ)]) {
    const refusal = await refused.catch((thrown: unknown) => thrown);
    expect(refusal).toMatchObject({ code: "cluster_unavailable", status: 503 });
    expect(String(refusal)).not.toContain(error.message);
  }
});

it("what counted goes on to count while the API server is away, where that is wanted, and for so long alone", async () => {
  const away = new SlessError("cluster_unavailable", { cause: "away" });
  for (const [staleMs, survives] of [
    [undefined, false],
    [600_000, true],
  ] as const) {
    const { authority, fail, clock } = openAuthority({ token: valid }, staleMs === undefined ? {} : { staleMs });
    await authority.authenticate("known");
    fail(away);
    clock.forward(61_000);
    const outcome = () =>
      authority.authenticate("known").then(
        ({ username }) => username,
        ({ code }) => code,
      );
    expect(await outcome()).toBe(survives ? "ada" : "cluster_unavailable");
    await expect(authority.authenticate("new")).rejects.toMatchObject({ code: "cluster_unavailable" });
    clock.forward(600_000);
    expect(await outcome()).toBe("cluster_unavailable");
  }
});

it.each([
  [
    READ,
    'ada may not get functions.sless.kube5s.ru "hello" in namespace "a".',
    "kubectl create rolebinding sless-viewer-fdee430d --clusterrole=sless-viewer --user=ada --namespace=a",
  ],
  [
    { ...READ, verb: "create", subresource: "invoke" },
    'ada may not create functions.sless.kube5s.ru/invoke "hello" in namespace "a".',
    "--clusterrole=sless-tenant-editor --user=ada --namespace=a",
  ],
  [
    { verb: "list", group: "", resource: "secrets", namespace: "a'b" },
    'ada may not list secrets in namespace "a\'b".',
    "--clusterrole=sless-tenant-editor --user=ada --namespace='a'\\''b'",
  ],
  [
    { verb: "create", group: "", resource: "namespaces", name: "a" },
    'ada may not create namespaces "a".',
    "kubectl create clusterrolebinding sless-namespace-creator-fdee430d --clusterrole=sless-namespace-creator --user=ada",
  ],
  [{ verb: "get", path: "/metrics" }, "ada may not get /metrics.", "--clusterrole=sless-metrics-reader --user=ada"],
])("a refusal says what was wanted and how it can be had (%#)", async (access, happened, grant) => {
  const { authority } = openAuthority({ access: { allowed: false } });
  const refusal = await authority.authorize(ADA, access).catch((error: unknown) => error);
  expect((refusal as SlessError).happened).toBe(happened);
  expect((refusal as SlessError).remedy).toContain(grant);
});
