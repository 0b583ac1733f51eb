// Renders with "helm", applies with "kubectl".
import { beforeAll, expect, it } from "vitest";
import type { SlessClient } from "../../../src/server/client.ts";
import { eventually } from "../../support/eventually.ts";
import { functionYaml, triggerYaml } from "../../support/function-files.ts";
import { freePorts } from "../../support/kubernetes/free-ports.ts";
import { describeOnOwnControlPlane } from "../../support/kubernetes/index.ts";
import { GROUP, type Tenant, tenantOf } from "./fault-world.ts";
import { installRights, type RoleWorld, roleWorld } from "./role-world.ts";

const MANIFEST = "functions/hello/function.yaml";
const FOREIGN_COMMENTS = "# one\n# two\n# three\n";

describeOnOwnControlPlane("roles in processes of their own", { audit: true }, (cluster) => {
  let port: number;
  beforeAll(async () => {
    await installRights(cluster());
    [port] = (await freePorts(1)) as [number];
  }, 60_000);

  const live = async ({ namespace }: Tenant, name = "hello") =>
    (await cluster().request("GET", `${GROUP}/namespaces/${namespace}/functions/${name}`)).body;
  const refusal = (api: SlessClient, { namespace }: Tenant) =>
    api.patch("functions", "hello", { memory_mb: 512 }, { namespace }).then(
      () => undefined,
      ({ status, code, details }) => ({ status, code, details }),
    );
  const refusedWith = (place: object) => ({
    status: 409,
    code: "owned_by_repository",
    details: [{ repository: "code", ...place }],
  });
  const lead = async (world: RoleWorld, name: string, address: string, buildMs?: number) => {
    const controller = await world.controller(name, address, buildMs === undefined ? {} : { buildMs });
    await controller.leads();
    return controller;
  };

  it("a write to what a repository owns is refused with file and line, also after the line has moved and nothing was written", async () => {
    const world = await roleWorld(cluster(), port);
    const one = await lead(world, "one", "127.0.0.11");
    const api = await (await world.api()).client();
    const tenant = await tenantOf(cluster(), { hello: { text: "hi" } });
    await tenant.converged(60_000);
    const before = await live(tenant);
    expect(await refusal(api, tenant)).toEqual(refusedWith({ file: MANIFEST, line: 3 }));

    const moved =
      FOREIGN_COMMENTS + functionYaml("hello", { memoryMB: 128, env: {} }) + triggerYaml("hello-http", "hello");
    await tenant.push({}, { [MANIFEST]: moved });
    await tenant.converged(60_000);
    expect(await refusal(api, tenant)).toEqual(refusedWith({ file: MANIFEST, line: 6 }));
    expect((await live(tenant)).metadata.resourceVersion).toBe(before.metadata.resourceVersion);

    // Without the controller nothing is known of lines, and the write is refused all the same.
    await one.kill("SIGKILL");
    await eventually(
      "the refusal names the file alone",
      () => refusal(api, tenant),
      (seen) => JSON.stringify(seen) === JSON.stringify(refusedWith({ file: MANIFEST })),
    );
    await lead(world, "two", "127.0.0.12");
    await eventually(
      "the next leader tells the line",
      () => refusal(api, tenant),
      (seen) => seen?.details[0].line === 6,
      60_000,
    );
  }, 240_000);
});
