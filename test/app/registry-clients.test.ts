import { expect, it, onTestFinished } from "vitest";
import { createClosers } from "../../src/app/closers.ts";
import { registryClients } from "../../src/app/registry-clients.ts";
import { systemClock } from "../../src/controller/index.ts";
import { httpServer } from "../support/http-server.ts";

it("every host has one client, which shows it what is known for it alone", async () => {
  const shown: string[] = [];
  const { origin } = await httpServer(({ headers }, response) => {
    shown.push(headers.authorization ?? "nothing");
    if (headers.authorization) return void response.end(JSON.stringify({ name: "a", tags: ["one"] }));
    response.writeHead(401, { "www-authenticate": 'Basic realm="here"' }).end();
  });
  const { host } = new URL(origin);
  const closers = createClosers();
  onTestFinished(() => closers.close());
  const asked: string[] = [];
  const clients = registryClients(
    {
      clock: systemClock,
      isPlainHttp: (one) => one === host,
      credentialsOf: (one) => async () => {
        asked.push(one);
        return { username: one, password: "secret" };
      },
    },
    closers,
  );
  expect(clients(host)).toBe(clients(host));
  expect(clients("registry.example.org")).not.toBe(clients(host));
  await clients(host).tags("a");
  expect(new Set(asked)).toEqual(new Set([host]));
  expect(shown.at(-1)).toBe(`Basic ${Buffer.from(`${host}:secret`).toString("base64")}`);
});
