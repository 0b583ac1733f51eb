import { afterAll, beforeAll, describe } from "vitest";
import { builderContract } from "../../contract/builder.ts";
import { describeWithServers } from "../../support/kubernetes/index.ts";
import { openImageBuilder } from "../../support/open-image-builder.ts";
import { openRegistryServer, type RegistryServer } from "../../support/registry-server.ts";

describeWithServers("the builder of images", () => {
  let server: RegistryServer;
  beforeAll(async () => {
    server = await openRegistryServer();
  }, 600_000);
  afterAll(() => server?.close());

  describe("keeps the contract of builders", () => builderContract(() => openImageBuilder(server.host)));
});
