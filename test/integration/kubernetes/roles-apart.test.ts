// Renders with "helm", applies with "kubectl".
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeAll, expect, it } from "vitest";
import type { SlessClient } from "../../../src/server/client.ts";
import { openFilesystemStore } from "../../../src/storage/filesystem/index.ts";
import { leaderOf } from "../../support/cluster-process.ts";
import { eventually } from "../../support/eventually.ts";
import { freePort } from "../../support/free-ports.ts";
import { functionYaml, triggerYaml } from "../../support/function-files.ts";
import { describeOnOwnControlPlane } from "../../support/kubernetes/index.ts";
import { GROUP, type Tenant, tenantOf } from "./fault-world.ts";
import { apiToken, installRights, OWN, roleWorld } from "./role-world.ts";

const MANIFEST = "functions/hello/function.yaml";
const COMMENTS = "# one\n# two\n# three\n";
/** Where `kind:` of the function's document stands. */
const LINE = 3;
/** So long that whoever looks finds it under way. */
const BUILD_MS = 8_000;
const ONE = "127.0.0.11";
const TWO = "127.0.0.12";
const NO_LEADER = /^sless: the controller does not answer/;

describeOnOwnControlPlane("roles in processes of their own", { audit: true }, (cluster) => {
  let port: number;
  beforeAll(async () => {
    await installRights(cluster());
    port = await freePort();
  });

  afterEach(async () => {
    const accounts = ["sless-api", "sless-controller"].map((name) => `system:serviceaccount:${OWN}:${name}`);
    const refused = (await cluster().auditLog()).filter(
      ({ user, status }) => accounts.includes(user) && status === 403,
    );
    expect(refused.map(({ user, verb, requestURI }) => `${user} ${verb} ${requestURI}`)).toEqual([]);
  });

  const versionOf = async ({ namespace }: Tenant) =>
    (await cluster().request("GET", `${GROUP}/namespaces/${namespace}/functions/hello`)).body.metadata.resourceVersion;
  const refusal = (api: SlessClient, { namespace }: Tenant) =>
    api.patch("functions", "hello", { memory_mb: 512 }, { namespace }).then(
      () => undefined,
      ({ status, code, details }) => ({ status, code, details }),
    );
  /** Who is asked has a second: on a busy machine it may miss one. */
  const refusesWith = async (api: SlessClient, tenant: Tenant, place: object) => {
    const expected = { status: 409, code: "owned_by_repository", details: [{ repository: "code", ...place }] };
    const isSame = (seen: unknown) => JSON.stringify(seen) === JSON.stringify(expected);
    await eventually(`the refusal tells ${JSON.stringify(place)}`, () => refusal(api, tenant), isSame);
  };
  const buildLog = (api: SlessClient, namespace: string, follow = false, name = "hello") =>
    text(api.logs("functions", name, { namespace, build: true, follow }));

  it("refused writes tell file and line, and garbage is collected, as long as any controller leads", async () => {
    const world = await roleWorld(cluster(), port);
    const one = await world.leader("one", ONE);
    const api = await world.api();
    const admin = await api.client();
    const collect = (dryRun: boolean) => admin.collectGarbage({ dryRun });
    const objects = await openFilesystemStore(join(world.data, "objects"));
    const key = `functions/team/gone/${"a".repeat(64)}.zip`;
    await objects.put(key, Buffer.from("nobody's"));
    const tenant = await tenantOf(cluster(), { hello: { text: "hi" } });
    await tenant.converged();
    const before = await versionOf(tenant);
    await refusesWith(admin, tenant, { file: MANIFEST, line: LINE });
    expect(await collect(true)).toMatchObject({ dry_run: true, kept: 1, waiting: { count: 1 }, failures: [] });
    const { items, dry_run, removed } = await collect(false);
    const told = items.map(({ action, name }) => [action, name]);
    expect([dry_run, removed.count, told]).toEqual([false, 0, [["wait", key]]]);
    const stranger = await api.client(await cluster().tokenFor({ user: "mallory" }));
    await expect(stranger.collectGarbage({ dryRun: true })).rejects.toMatchObject({ status: 403 });

    // A line that moves is no reason to write anything.
    const documents = functionYaml("hello", { memoryMB: 128, env: {} }) + triggerYaml("hello-http", "hello");
    await tenant.push({}, { [MANIFEST]: COMMENTS + documents });
    await tenant.converged();
    await refusesWith(admin, tenant, { file: MANIFEST, line: LINE + 3 });
    expect(await versionOf(tenant)).toBe(before);

    await one.kill("SIGKILL");
    await refusesWith(admin, tenant, { file: MANIFEST });
    await expect(collect(false)).rejects.toMatchObject({ status: 503, code: "controller_unreachable" });
    await world.leader("two", TWO);
    await refusesWith(admin, tenant, { file: MANIFEST, line: LINE + 3 });
    const report = await eventually(
      "the next leader collects",
      () => collect(true).catch((error: Error) => error.message),
      (seen) => typeof seen !== "string",
    );
    expect(report).toMatchObject({ waiting: { count: 1 }, removed: { count: 0 } });
  });

  it("the output of a build is told while it runs, and that of the last one that ended while nobody leads", async () => {
    const world = await roleWorld(cluster(), port);
    const one = await world.leader("one", ONE, BUILD_MS);
    const api = await world.api();
    const admin = await api.client();
    const tenant = await tenantOf(cluster(), { hello: { text: "hi" } });
    await eventually(
      "the build has begun",
      () => buildLog(admin, tenant.namespace).catch(String),
      (log) => log === "hello begins\n",
    );
    expect(await buildLog(admin, tenant.namespace, true)).toBe("hello begins\nhello has ended\n");
    const stranger = await api.client(await cluster().tokenFor({ user: "mallory" }));
    await expect(buildLog(stranger, tenant.namespace)).rejects.toMatchObject({ status: 403 });

    await one.kill("SIGKILL");
    const objects = await openFilesystemStore(join(world.data, "objects"));
    const key = `builds/functions/${tenant.namespace}/hello/2026-01-01T00-00-00.000Z.log`;
    await objects.put(key, Buffer.from("kept\n"));
    const [kept, note] = (await buildLog(admin, tenant.namespace, true)).split("\n");
    expect([kept, note]).toEqual(["kept", expect.stringMatching(NO_LEADER)]);

    const two = await world.leader("two", TWO, 600_000);
    await tenant.push({ slow: { text: "slow" } });
    const follow = () => admin.logs("functions", "slow", { namespace: tenant.namespace, build: true, follow: true });
    const chunks = await eventually(
      "the next build has begun",
      async () => {
        const log = follow()[Symbol.asyncIterator]();
        const first = await log.next().catch(String);
        return typeof first !== "string" && String(Buffer.from(first.value ?? "")) === "slow begins\n" && { log };
      },
      Boolean,
    );
    const broken = expect((chunks as { log: AsyncIterator<Uint8Array> }).log.next()).rejects.toThrow();
    await two.kill("SIGKILL");
    await broken;
  });

  it("nobody else's token opens the controller's port, nor the api's own that is meant for another", async () => {
    const world = await roleWorld(cluster(), port);
    await world.leader("one", ONE);
    const tenant = { serviceAccount: "default", namespace: "default" };
    const statusWith = async (token: string) => {
      const headers = { "x-sless-token": token };
      const paths = ["/places/code/Function/team/hello", "/build-logs/Function/team/hello"];
      const origin = `http://${ONE}:${port}`;
      const answers = [
        ...paths.map((path) => fetch(origin + path, { headers })),
        fetch(`${origin}/garbage`, { method: "POST", headers }),
      ];
      return (await Promise.all(answers)).map(({ status }) => status);
    };
    const audiences = ["sless-controller"];
    const gateway = { serviceAccount: "sless-gateway", namespace: OWN };
    expect({
      tenant: await statusWith(await cluster().tokenFor(tenant, { audiences })),
      gateway: await statusWith(await cluster().tokenFor(gateway, { audiences })),
      forKubernetes: await statusWith(await apiToken(cluster())),
      forTheGateway: await statusWith(await apiToken(cluster(), ["sless-gateway"])),
      admin: await statusWith(cluster().adminToken),
      api: await statusWith(await apiToken(cluster(), audiences)),
    }).toEqual({
      tenant: [403, 403, 403],
      gateway: [403, 403, 403],
      forKubernetes: [401, 401, 401],
      forTheGateway: [401, 401, 401],
      admin: [401, 401, 401],
      api: [200, 200, 200],
    });
  });

  it("of several replicas of everything each answers as if it led", async () => {
    const world = await roleWorld(cluster(), port);
    const replicas = { one: await world.replica("one", ONE), two: await world.replica("two", TWO) };
    await Promise.all([replicas.one.started(), replicas.two.started()]);
    const tenant = await tenantOf(cluster(), { hello: { text: "hi" } });
    await tenant.converged();
    for (const replica of [replicas.one, replicas.two]) {
      const client = await replica.client();
      await refusesWith(client, tenant, { file: MANIFEST, line: LINE });
      expect(await client.collectGarbage({ dryRun: true })).toMatchObject({ kept: 1 });
      expect(await buildLog(client, tenant.namespace)).toBe("hello begins\n");
    }
    const first = (await leaderOf(cluster(), OWN)) as keyof typeof replicas;
    const next = first === "one" ? replicas.two : replicas.one;
    await replicas[first].kill("SIGTERM");
    await next.leads();
    await refusesWith(await next.client(), tenant, { file: MANIFEST, line: LINE });
  });
});
