import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";

const SWEEP_WAIT_MS = 2_000;

export interface ProcessRecords {
  add(pid: number): void;
  remove(pid: number): void;
}

/**
 * A file per running group leader, named by its pid and holding when it started, so that the next life of this
 * process finds what an unclean end left, and never kills a stranger that got the same pid.
 */
export function openProcessRecords(folder: string): ProcessRecords {
  mkdirSync(folder, { recursive: true });
  return {
    add: (pid) => writeFileSync(join(folder, String(pid)), startOf(pid) ?? ""),
    remove: (pid) => rmSync(join(folder, String(pid)), { force: true }),
  };
}

/** Kills the groups that an earlier life recorded and that still run; resolves when they are gone. */
export async function sweepProcesses(folder: string): Promise<number> {
  let killed = 0;
  for (const name of namesIn(folder)) {
    const pid = Number(name);
    const file = join(folder, name);
    const recorded = readFileSync(file, "utf8");
    if (pid > 1 && recorded !== "" && startOf(pid) === recorded) {
      killed++;
      await killGroup(pid);
    }
    rmSync(file, { force: true });
  }
  return killed;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

async function killGroup(pid: number): Promise<void> {
  const deadline = performance.now() + SWEEP_WAIT_MS;
  while (signalGroup(pid, "SIGKILL") && performance.now() < deadline) await setTimeout(5);
}

/** @returns false when no process of the group is left */
export function signalGroup(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(-pid, signal);
    return true;
  } catch {
    return false;
  }
}

/** What tells a process from a later one of the same pid: boot and clock tick of its start, or its start time. */
function startOf(pid: number): string | undefined {
  try {
    if (process.platform !== "linux") {
      return execFileSync("/bin/ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8" }).trim() || undefined;
    }
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name in parentheses may hold anything; field 22 is the 20th after it.
    const started = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
    return `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()} ${started}`;
  } catch {
    return undefined;
  }
}
