import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { openProcessSupervisor, type ProcessSupervisor, readOutput } from "../../src/processes/index.ts";
import { eventually } from "../support/eventually.ts";
import { killThose, processesWith } from "../support/process-tree.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { type WatchedChild, watchChild } from "../support/watched-child.ts";

const ON_LINUX = process.platform === "linux";
const ENV = { PATH: "/usr/bin:/bin" };

async function supervisorIn(folder: string): Promise<ProcessSupervisor> {
  const supervisor = await openProcessSupervisor({ folder });
  onTestFinished(() => supervisor.close());
  return supervisor;
}

async function run(supervisor: ProcessSupervisor, command: readonly string[], env: Record<string, string> = ENV) {
  const child = supervisor.spawn(command, { cwd: "/", env });
  let output = "";
  await readOutput(child, async (lines) => {
    output += lines.map((line) => `${line}\n`).join("");
  });
  return { ...(await child.exited), output };
}

describe("the process supervisor", () => {
  it("gives a child the environment that was asked for, and nothing of its own", async () => {
    const supervisor = await supervisorIn(await temporaryFolder());
    const { output, code } = await run(supervisor, ["env"], { ...ENV, GREETING: "hello world" });
    const names = output.split("\n").map((line) => line.split("=")[0]);
    expect(output).toContain("GREETING=hello world");
    expect(
      names.filter((name) => !["PATH", "GREETING", "SLESS_PROCESS", "PWD", "OLDPWD", "_", "SHLVL", ""].includes(name!)),
    ).toEqual([]);
    expect(code).toBe(0);
  });

  it("passes arguments as they are", async () => {
    const supervisor = await supervisorIn(await temporaryFolder());
    const { output } = await run(supervisor, ["printf", "%s|", "a b", "$HOME", "'x'", ""]);
    expect(output).toBe("a b|$HOME|'x'||\n");
  });

  it("tells the exit code, and the signal", async () => {
    const supervisor = await supervisorIn(await temporaryFolder());
    expect(await run(supervisor, ["sh", "-c", "exit 75"])).toMatchObject({ code: 75, signal: null });
    expect(await run(supervisor, ["sh", "-c", "kill -9 $$"])).toMatchObject({ code: null, signal: "SIGKILL" });
  });

  it("says when the system cannot start it, instead of throwing later", async () => {
    const supervisor = await supervisorIn(await temporaryFolder());
    const child = supervisor.spawn(["sleep", "1"], { cwd: "/no/such/folder", env: ENV });
    expect(await child.exited).toMatchObject({ code: null, fault: expect.stringContaining("ENOENT") });
  });

  it("refuses a program that is not there", async () => {
    const supervisor = await supervisorIn(await temporaryFolder());
    expect(() => supervisor.spawn(["no-such-program"], { cwd: "/", env: ENV })).toThrow("no-such-program");
  });

  it("kills what a child started when the child ends", async () => {
    const supervisor = await supervisorIn(await temporaryFolder());
    const mark = randomUUID();
    await run(supervisor, ["sh", "-c", `(sleep 300; : ${mark}) & exit 0`]);
    await eventually(
      "the grandchild is gone",
      () => processesWith(mark),
      (pids) => pids.length === 0,
    );
  });

  it("lets a reader go although a descendant hid from it and holds the output", async () => {
    const supervisor = await supervisorIn(await temporaryFolder());
    const mark = randomUUID();
    onTestFinished(() => {
      killThose(processesWith(mark));
    });
    const { output } = await run(supervisor, ["sh", "-c", `setsid env -i sh -c 'sleep 300; : ${mark}' & echo done`]);
    expect(output).toBe("done\n");
  });

  it.runIf(ON_LINUX)("kills at a child's end what it started in sessions of their own, and nobody else's", async () => {
    const supervisor = await supervisorIn(await temporaryFolder());
    const [mark, other] = [randomUUID(), randomUUID()];
    supervisor.spawn(["sh", "-c", `setsid sh -c 'sleep 300; : ${other}' & sleep 300`], { cwd: "/", env: ENV });
    await eventually(
      "the other's runs",
      () => processesWith(`sleep 300; : ${other}`),
      (pids) => pids.length === 2,
    );
    for (let ended = 0; ended < 12; ended++) {
      await run(supervisor, [
        "sh",
        "-c",
        `setsid sh -c 'setsid sh -c "sleep 300; : ${mark}" & sleep 300; : ${mark}' &`,
      ]);
    }
    await eventually(
      "nothing of those that ended runs",
      () => processesWith(mark),
      (pids) => pids.length === 0,
    );
    expect(processesWith(other)).toHaveLength(2);
    await supervisor.close();
    await eventually(
      "the other's are gone",
      () => processesWith(other),
      (pids) => pids.length === 0,
    );
  });

  it("close kills every child with its descendants, and forgets them", async () => {
    const folder = await temporaryFolder();
    const supervisor = await openProcessSupervisor({ folder });
    const mark = randomUUID();
    const child = supervisor.spawn(["sh", "-c", `(sleep 300; : ${mark}) & sleep 300; : ${mark}`], {
      cwd: "/",
      env: ENV,
    });
    await eventually(
      "both run",
      () => processesWith(mark),
      (pids) => pids.length === 2,
    );
    await supervisor.close();
    expect(await child.exited).toMatchObject({ signal: "SIGKILL" });
    expect(await readdir(folder)).toEqual([]);
    expect(() => supervisor.spawn(["true"], { cwd: "/", env: ENV })).toThrow("shutting down");
  });
});

it("a process that has nothing else to do gets beyond the close, and ends well", async () => {
  const script = fileURLToPath(new URL("close-and-end.ts", import.meta.url));
  const child = spawn(process.execPath, [script, await temporaryFolder()], { stdio: ["ignore", "pipe", "inherit"] });
  const { closed, output } = watchChild(child);
  expect(await closed()).toEqual({ code: 0, signal: null });
  expect(output()).toBe("closed\n");
});

describe("children of a parent that died", () => {
  it.each(["SIGKILL", "SIGTERM", "SIGINT", "SIGABRT"] as const)("are gone after its %s", async (signal) => {
    const { parent, exited, mark } = await startParent(await temporaryFolder());
    expect(processesWith(mark).length).toBeGreaterThanOrEqual(ON_LINUX ? 3 : 2);
    parent.kill(signal);
    await exited();
    await eventually(
      "no child lives",
      () => processesWith(mark),
      (pids) => pids.length === 0,
    );
  });

  it("are killed at the next start when the reaper was killed too", async () => {
    const folder = await temporaryFolder();
    const { parent, exited, mark } = await startParent(folder);
    parent.kill("SIGSTOP"); // it shall not replace its reaper
    for (const pid of reapersOf(parent.pid!)) process.kill(pid, "SIGKILL");
    parent.kill("SIGKILL");
    await exited();
    expect(processesWith(mark).length).toBeGreaterThanOrEqual(2);
    await supervisorIn(folder);
    await eventually(
      "no child lives",
      () => processesWith(mark),
      (pids) => pids.length === 0,
    );
    expect(await readdir(folder)).toEqual([expect.stringMatching(/^life-/)]);
  });

  it("a reaper that dies is replaced, and knows them all", async () => {
    const { parent, exited, mark } = await startParent(await temporaryFolder());
    const [first] = reapersOf(parent.pid!);
    process.kill(first!, "SIGKILL");
    await eventually(
      "a new reaper",
      () => reapersOf(parent.pid!),
      (pids) => pids.length === 1 && pids[0] !== first,
    );
    parent.kill("SIGKILL");
    await exited();
    await eventually(
      "no child lives",
      () => processesWith(mark),
      (pids) => pids.length === 0,
    );
  });

  it.runIf(ON_LINUX)("a stranger with a mark that is not recorded is left alone", async () => {
    const env = { ...ENV, SLESS_PROCESS: `${randomBytes(16).toString("hex")}/1` };
    const stranger = spawn("sleep", ["300"], { stdio: "ignore", env });
    onTestFinished(() => {
      stranger.kill("SIGKILL");
    });
    const supervisor = await supervisorIn(await temporaryFolder());
    await run(supervisor, ["true"]);
    await supervisor.close();
    expect([stranger.exitCode, stranger.signalCode]).toEqual([null, null]);
  });

  it("a stranger with a recorded pid is left alone", async () => {
    const folder = await temporaryFolder();
    const stranger = spawn("sleep", ["300"], { detached: true, stdio: "ignore" });
    onTestFinished(() => {
      stranger.kill("SIGKILL");
    });
    const start = (await readFile("/proc/sys/kernel/random/boot_id", "utf8")).trim();
    await writeFile(join(folder, String(stranger.pid)), `${start} 12345`);
    await supervisorIn(folder);
    expect(stranger.exitCode).toBeNull();
    expect(() => process.kill(stranger.pid!, 0)).not.toThrow();
    expect(await readdir(folder)).toEqual([expect.stringMatching(/^life-/)]);
  });
});

async function startParent(
  folder: string,
): Promise<{ parent: ChildProcess; exited: WatchedChild["exited"]; mark: string }> {
  const mark = randomUUID();
  const script = fileURLToPath(new URL("parent.ts", import.meta.url));
  const parent = spawn(process.execPath, [script, folder], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { PARENT_MARK: mark },
  });
  const { says, exited } = watchChild(parent);
  await says("started\n");
  return { parent, exited, mark };
}

function reapersOf(parent: number): number[] {
  return processesWith("trap ''", parent);
}
