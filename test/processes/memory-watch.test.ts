import { describe, expect, it } from "vitest";
import type { GroupMemory } from "../../src/processes/group-memory.ts";
import { openProcessSupervisor, readOutput } from "../../src/processes/index.ts";
import { openMemoryWatch } from "../../src/processes/memory-watch.ts";
import { eventually } from "../support/eventually.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const MIB = 1024 * 1024;
/** Takes memory until 400 MiB are there. */
const growing = (whenFull: string) => `const kept = [];
const timer = setInterval(() => {
  if (kept.length < 20) kept.push(Buffer.alloc(20 * 1024 * 1024, 1));
  else { ${whenFull} }
}, 20);`;
const GROWS = growing('clearInterval(timer); console.log("full");');
/** The same, and holds it: who is to end it may be late. */
const HOLDS = growing("");

async function run(command: readonly string[], memoryBytes?: number) {
  const folder = await temporaryFolder();
  const supervisor = await openProcessSupervisor({ folder });
  const env = { PATH: "/usr/bin:/bin", NODE: process.execPath, GROWS, HOLDS };
  const child = supervisor.spawn(command, { cwd: "/", env, ...(memoryBytes === undefined ? {} : { memoryBytes }) });
  let output = "";
  await readOutput(child, async (lines) => {
    output += lines.join("\n");
  });
  const exit = await child.exited;
  await supervisor.close();
  return { exit, output };
}

describe("a process with a limit of memory", () => {
  it.each([
    ["it takes itself", ["sh", "-c", 'exec "$NODE" -e "$HOLDS"']],
    ["its children take", ["sh", "-c", '"$NODE" -e "$HOLDS"; echo survived']],
    ["it and its children take together", ["sh", "-c", '"$NODE" -e "$HOLDS" & "$NODE" -e "$HOLDS"; wait']],
  ])("is killed with all that it started for what %s", async (_, command) => {
    const { exit, output } = await run(command, 150 * MIB);
    expect(exit).toMatchObject({ code: null, signal: "SIGKILL" });
    expect(exit.exceededBytes).toBeGreaterThan(150 * MIB);
    expect(output).toBe("");
  });

  it("lives while it stays below, and what has no limit lives anyway", async () => {
    expect(await run(["sh", "-c", 'exec "$NODE" -e "$GROWS"'], 800 * MIB)).toEqual({
      exit: { code: 0, signal: null },
      output: "full",
    });
    expect((await run(["sh", "-c", 'exec "$NODE" -e "$GROWS"'])).output).toBe("full");
  });
});

/** Holds 80 MiB, which three forks share with it for a second; each alone adds next to nothing. */
const FORKS = `import os, time
held = b"x" * (80 << 20)
children = []
for _ in range(3):
    pid = os.fork()
    if pid == 0:
        time.sleep(1)
        os._exit(0)
    children.append(pid)
for pid in children:
    os.waitpid(pid, 0)
print("done")`;

it.runIf(process.platform === "linux")("what forks share with each other counts once", async () => {
  expect(await run(["/usr/bin/env", "python3", "-c", FORKS], 150 * MIB)).toEqual({
    exit: { code: 0, signal: null },
    output: "done",
  });
});

/** Memory that a test says; what was asked for is kept. */
function saidMemory(bytesOf: (group: number, rescans: number) => number) {
  const reads: (readonly number[])[] = [];
  let rescans = 0;
  const say = (groups: readonly number[]) => new Map(groups.map((group) => [group, bytesOf(group, rescans)]));
  const memory: GroupMemory = {
    rescan: async () => void rescans++,
    async read(groups) {
      reads.push(groups);
      return say(groups);
    },
    readExactly: async (groups) => say(groups),
  };
  return { memory, reads };
}

it("many groups are looked at in turn, none is left out, and no look is long", async () => {
  const { memory, reads } = saidMemory((group) => (group === 249 ? 2 : 1));
  const watch = openMemoryWatch(memory);
  const exceeded: number[] = [];
  const stops = Array.from({ length: 250 }, (_, group) => watch.watch(group, 1, () => void exceeded.push(group)));
  await eventually(
    "the one that holds too much is found",
    () => exceeded,
    (seen) => seen.length > 0,
  );
  await eventually(
    "all are seen",
    () => new Set(reads.flat()).size,
    (count) => count === 250,
  );
  for (const stop of stops) stop();
  expect(exceeded).toEqual([249]);
  expect(Math.max(...reads.map((groups) => groups.length))).toBe(50);
});

it("what seems to hold too much, but does not at a second look, is left alone", async () => {
  const { memory, reads } = saidMemory((_, rescans) => (rescans === 1 ? 2 : 1));
  const exceeded: number[] = [];
  const stop = openMemoryWatch(memory).watch(7, 1, (bytes) => void exceeded.push(bytes));
  await eventually(
    "it was looked at",
    () => reads.length,
    (count) => count >= 4,
  );
  stop();
  expect(exceeded).toEqual([]);
});

it("nothing is looked at any more when nothing is watched", async () => {
  const { memory, reads } = saidMemory(() => 1);
  const watch = openMemoryWatch(memory);
  const stop = watch.watch(7, 1, () => undefined);
  await eventually(
    "it was looked at",
    () => reads.length,
    (count) => count >= 1,
  );
  stop();
  const other = saidMemory(() => 1);
  const end = openMemoryWatch(other.memory).watch(8, 1, () => undefined);
  const before = reads.length;
  await eventually(
    "another watch looked often",
    () => other.reads.length,
    (count) => count >= 4,
  );
  end();
  expect(reads.length).toBeLessThanOrEqual(before + 1);
});
