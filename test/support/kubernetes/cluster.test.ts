import { expect, it } from "vitest";
import { describeOnCluster, describeOnOwnControlPlane } from "./index.ts";

describeOnCluster("the shared cluster", (cluster) => {
  it("answers", async () => {
    expect((await cluster().request("GET", "/readyz")).body).toBe("ok");
  });
});

describeOnOwnControlPlane("a control plane of one's own", { controllers: false, crds: false }, (controlPlane) => {
  it("keeps objects over a restart of the API server", async () => {
    const name = await controlPlane().createNamespace();
    await controlPlane().restartApiServer();
    expect((await controlPlane().request("GET", `/api/v1/namespaces/${name}`)).status).toBe(200);
  });
});
