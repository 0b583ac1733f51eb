import { expect, it } from "vitest";
import { createClient } from "../../src/server/client.ts";
import { httpServer } from "../support/http-server.ts";

it.each([0, 1, 20_000])("an approval of %i deletions fits into requests that a server takes", async (count) => {
  const sizes: number[] = [];
  const { origin } = await httpServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    sizes.push(body.length);
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ approved: JSON.parse(body.toString()).deletions }));
  });
  const deletions = Array.from({ length: count }, (_, n) => ({
    kind: "FunctionJob" as const,
    name: `f${n}`.padEnd(52, "x"),
    uid: `${n}`.padStart(36, "0"),
  }));
  const client = createClient({ endpoint: origin });
  expect(await client.approve("main", { namespace: "default", deletions })).toEqual({ approved: deletions });
  await client.close();
  expect(Math.max(...sizes)).toBeLessThan(1 << 20);
  expect(sizes.length).toBeGreaterThan(0);
});
