import { spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openDataFolder } from "../../src/app/data-folder.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { watchChild } from "../support/watched-child.ts";

const HOLDER = join(import.meta.dirname, "../support/hold-data-folder.ts");

describe("the data folder", () => {
  it("a second process is refused and told who has it", async () => {
    const data = join(await temporaryFolder(), "data");
    const holder = hold(data);
    await holder.says("held");
    await expect(openDataFolder(data)).rejects.toMatchObject({
      code: "data_in_use",
      details: { pid: String(holder.pid) },
    });
  });

  it("after a kill -9 the next start takes it", async () => {
    const data = join(await temporaryFolder(), "data");
    const holder = hold(data);
    await holder.says("held");
    holder.kill();
    await holder.exited();
    const folder = await openDataFolder(data);
    await folder.close();
  });

  it("a lock that something else was written to is taken all the same, and holds", async () => {
    const data = join(await temporaryFolder(), "data");
    await (await openDataFolder(data)).close();
    await writeFile(join(data, "lock"), "no database ".repeat(500));
    const folder = await openDataFolder(data);
    await expect(openDataFolder(data)).rejects.toMatchObject({ code: "data_in_use" });
    await folder.close();
  });

  it("a file in its place is told, not overwritten", async () => {
    const path = join(await temporaryFolder(), "data");
    await writeFile(path, "mine");
    await expect(openDataFolder(path)).rejects.toMatchObject({ code: "storage_unavailable" });
  });
});

function hold(data: string) {
  const child = spawn(process.execPath, [HOLDER, data], { stdio: ["ignore", "pipe", "pipe"] });
  return { ...watchChild(child), pid: child.pid, kill: () => child.kill("SIGKILL") };
}
