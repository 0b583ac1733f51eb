/** `npm run bench:images`: making images of functions on a registry of this machine, beside tools that do the same. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { loadRuntimes } from "../../src/runtimes/index.ts";
import { buildServer } from "../../test/servers/build.ts";
import { openRegistryServer } from "../../test/support/registry-server.ts";
import { describeMachine } from "../machine.ts";
import { renderTable } from "../render-table.ts";
import { openClient, pushBigBase } from "./bench-registry.ts";
import { measureAppend, measureMany } from "./measure-append.ts";
import { measureApplied } from "./measure-applied.ts";
import { measureArchive } from "./measure-archive.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "21" },
    functions: { type: "string", default: "500" },
  },
});
const rounds = Number(values.rounds);
const say = (line: string) => process.stderr.write(`${line}\n`);
const machine = await describeMachine({});
const crane = await buildServer("crane");
const folder = await mkdtemp(join(tmpdir(), "sless-bench-"));
const server = await openRegistryServer();
try {
  const client = openClient(server.host);
  await pushBigBase(client);
  await client.close();
  const runtimes = await loadRuntimes(join(import.meta.dirname, "../../runtimes"));
  const runtime = { ...runtimes.get("python3.11")!, baseImage: `${server.host}/base:1` };
  const bench = { host: server.host, crane, runtime, folder, rounds, functions: Number(values.functions), say };
  const figures = [
    ...(await measureAppend(bench)),
    ...(await measureMany(bench)),
    ...(await measureApplied(bench)),
    ...(await measureArchive(folder, rounds, say)),
  ];
  process.stdout.write(renderTable({ date: new Date().toISOString(), machine, figures }));
  if (figures.some(({ target }) => target?.met === false)) process.exitCode = 1;
} finally {
  await server.close();
  await rm(folder, { recursive: true, force: true });
}
