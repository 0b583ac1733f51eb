import { afterAll, beforeAll, describe } from "vitest";
import { builderContract } from "../../contract/builder.ts";
import { describeWithServers } from "../../support/kubernetes/index.ts";
import { openImageBuilder } from "../../support/open-image-builder.ts";
import { type OpenedRegistry, openRegistryKind, REGISTRY_KINDS, teamClient } from "../../support/registry-kinds.ts";

/** Each program and each login, though not all of their pairs: the registry's own tests have those. */
const KINDS = REGISTRY_KINDS.filter(
  ([, { program, login }]) => (program === "docker-registry") === (login === "password"),
);

for (const [name, kind] of KINDS) {
  describeWithServers(`the builder of images, with ${name}`, () => {
    let registry: OpenedRegistry;
    beforeAll(async () => {
      registry = await openRegistryKind(kind);
    });
    afterAll(() => registry?.close());

    const open = () =>
      openImageBuilder(registry.host, { prefix: "team/", connect: (host) => teamClient(host, registry.kind) });
    describe("keeps the contract of builders", () => builderContract(open));
  });
}
