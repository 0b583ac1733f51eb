import { expect, it } from "vitest";
import { systemClock } from "../../src/controller/index.ts";
import { registryClient } from "../../src/registry/index.ts";
import { httpServer } from "../support/http-server.ts";

it("a registry without TLS is told as that, and the setting for it", async () => {
  const { port } = await httpServer((_request, response) => response.end());
  const client = registryClient({ host: `127.0.0.1:${port}`, clock: systemClock, tries: 1 });
  const asked = client.tags("one");
  await expect(asked).rejects.toThrow("it speaks no TLS (REGISTRY_PLAIN_HTTP=true, if it is to have none)");
  await expect(asked).rejects.not.toThrow("routines");
  await client.close();
});
