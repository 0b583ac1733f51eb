import { expect, it } from "vitest";
import type { Role } from "../../../src/cli/index.ts";
import { startClusterProcess } from "../../support/cluster-process.ts";
import { eventually } from "../../support/eventually.ts";
import { freePorts } from "../../support/free-ports.ts";
import { describeOnOwnControlPlane } from "../../support/kubernetes/index.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const statusOf = async (origin: string, path: string) =>
  fetch(`${origin}${path}`).then(
    ({ status }) => status,
    () => 0,
  );

describeOnOwnControlPlane("sless that is started while the API server is away", { controllers: false }, (cluster) => {
  it.each<[Role]>([["gateway"], ["controller"]])(
    "as a %s it lives, is not ready, and is once the server is back",
    async (role) => {
      const [port] = (await freePorts(1)) as [number];
      const origin = `http://127.0.0.1:${port}`;
      const namespace = await cluster().createNamespace("away");
      await cluster().stopApiServer();
      const process = startClusterProcess(cluster(), {
        ...{ name: role, namespace, roles: [role], data: await temporaryFolder() },
        env: { PORT: String(port) },
      });
      await eventually(
        "it lives",
        () => statusOf(origin, "/healthz"),
        (status) => status === 200,
      );
      expect(await statusOf(origin, "/readyz")).toBe(503);
      // Not 404: which functions there are is not known yet.
      expect(await statusOf(origin, "/fn/team/hello")).toBe(503);

      await cluster().startApiServer();
      await process.started();
      await eventually(
        "it is ready",
        () => statusOf(origin, "/readyz"),
        (status) => status === 200,
      );
      if (role === "gateway") expect(await statusOf(origin, "/fn/team/hello")).toBe(404);
    },
  );
});
