import { spawn } from "node:child_process";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { processesWith } from "../../support/process-tree.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import { watchChild } from "../../support/watched-child.ts";
import { ADAPTERS } from "./adapters.ts";
import { filesOf, remoteWorld } from "./remote-world.ts";

const SCRIPT = join(import.meta.dirname, "fetch-process.ts");
const KILLS = 3;

describe.each(ADAPTERS)("with $name", (adapter) => {
  it("a process that is killed in the middle of a fetch leaves nothing that is in the next one's way", async () => {
    const random = seededRandom("killed in the middle of a fetch");
    const world = await remoteWorld(adapter, { kept: "1" });
    const { server, repository, folder } = world;
    for (let round = 0; round < KILLS; round += 1) {
      await repository.commit(`${round}`, Object.fromEntries(manyFiles(round)));
      const child = spawn(process.execPath, [SCRIPT, adapter.name, server.url, folder]);
      const { exited } = watchChild(child);
      const after = random.below(8_000);
      server.setFault(({ body }) =>
        body === "" || body.includes("ls-refs") ? undefined : { after, onSent: () => child.kill("SIGKILL") },
      );
      expect(await exited(), `round ${round}`).toMatchObject({ signal: "SIGKILL" });
      await eventually(
        "git ends with the process that started it",
        () => processesWith(folder),
        (pids) => pids.length === 0,
      );
    }
    server.setFault(undefined);
    const reader = await world.reader();
    const { commit, tree } = await reader.resolve({});
    expect(commit).toBe(await repository.git("rev-parse", "main"));
    const files = Array.from({ length: KILLS }, (_, round) => manyFiles(round)).flat();
    expect(await filesOf(reader, tree)).toEqual({ kept: "1", ...Object.fromEntries(files) });
    await reader.close();
    const [mirror] = await readdir(folder);
    const left = await readdir(join(folder, mirror!), { recursive: true });
    expect(left.filter((name) => /tmp|\.lock|\.keep/.test(name))).toEqual([]);
  });
});

/** Text that does not compress to nothing. */
function manyFiles(round: number): [string, string][] {
  const text = (n: number) =>
    Array.from({ length: 40 }, (_, line) => `${(n * 7919 + line * 104_729) % 999_983}`).join("\n");
  return Array.from({ length: 40 }, (_, n) => [`round${round}/file${n}`, text(round * 40 + n)]);
}
