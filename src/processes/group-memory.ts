import { execFile } from "node:child_process";
import { closeSync, openSync, readdirSync, readSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { promisify } from "node:util";

const run = promisify(execFile);
const PS_TIMEOUT_MS = 5_000;
/** Then others have their turn. */
const READS_AT_ONCE = 50;

/** Memory of process groups. */
export interface GroupMemory {
  /** Looks which processes belong to which group; `read` counts those that were seen last, and always the leader. */
  rescan(): Promise<void>;
  /** Bytes that the processes of each group hold; a group that is gone holds 0. What forks share may count several times. */
  read(groups: readonly number[]): Promise<ReadonlyMap<number, number>>;
  /** The same, with what several processes share counted once; much dearer. */
  readExactly(groups: readonly number[]): Promise<ReadonlyMap<number, number>>;
}

/**
 * How much memory process groups use. On Linux anonymous memory alone counts, for the pages of programs and libraries
 * are shared and given back when they are needed; elsewhere the resident size that `ps` tells.
 */
export function groupMemory(): GroupMemory {
  return process.platform === "linux" ? linuxMemory() : psMemory();
}

function linuxMemory(): GroupMemory {
  const pageBytes = pageSize();
  let members = new Map<number, number[]>();
  const sumOf = (groups: readonly number[], bytesOf: (pid: number) => number) =>
    new Map(groups.map((group) => [group, sum([group, ...(members.get(group) ?? [])].map(bytesOf))]));
  const roughly = (pid: number) => anonymousPages(pid) * pageBytes;
  return {
    async rescan() {
      const found = new Map<number, number[]>();
      const pids = readdirSync("/proc").map(Number).filter(Number.isInteger);
      for (const [index, pid] of pids.entries()) {
        if (index % READS_AT_ONCE === READS_AT_ONCE - 1) await setImmediate();
        const group = groupOf(pid);
        if (group === undefined || group === pid) continue;
        const known = found.get(group);
        if (known) known.push(pid);
        else found.set(group, [pid]);
      }
      members = found;
    },
    read: async (groups) => sumOf(groups, roughly),
    readExactly: async (groups) => sumOf(groups, (pid) => proportionalBytes(pid) ?? roughly(pid)),
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** Anonymous memory, pages of several processes divided among them; undefined where the kernel does not tell. */
function proportionalBytes(pid: number): number | undefined {
  const kib = /^Pss_Anon:\s+(\d+) kB$/m.exec(readIfThere(`/proc/${pid}/smaps_rollup`))?.[1];
  return kib === undefined ? undefined : Number(kib) * 1_024;
}

function groupOf(pid: number): number | undefined {
  const stat = readIfThere(`/proc/${pid}/stat`);
  // The name in parentheses may hold anything; the group is the third field after it.
  const group = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[2]);
  return group > 0 ? group : undefined;
}

function anonymousPages(pid: number): number {
  const [, resident, shared] = readIfThere(`/proc/${pid}/statm`).split(" ").map(Number);
  return Math.max(0, (resident ?? 0) - (shared ?? 0));
}

const buffer = Buffer.alloc(4_096);

/**
 * The first 4 KiB; empty when the process is gone. Synchronous: the kernel answers from memory, and a promise would cost
 * more. By hand, for it is done often, and `readFileSync` asks the kernel twice as much.
 */
function readIfThere(path: string): string {
  let file: number | undefined;
  try {
    file = openSync(path, "r");
    return buffer.toString("latin1", 0, readSync(file, buffer, 0, buffer.length, null));
  } catch {
    return "";
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

const AT_PAGESZ = 6n;

/** Of this machine, from what the kernel told this process at its start. */
function pageSize(): number {
  const auxiliary = Buffer.from(readIfThere("/proc/self/auxv"), "latin1");
  for (let at = 0; at + 16 <= auxiliary.length; at += 16)
    if (auxiliary.readBigUInt64LE(at) === AT_PAGESZ) return Number(auxiliary.readBigUInt64LE(at + 8));
  return 4_096;
}

function psMemory(): GroupMemory {
  return { rescan: async () => undefined, read: residentBytes, readExactly: residentBytes };
}

async function residentBytes(groups: readonly number[]): Promise<ReadonlyMap<number, number>> {
  const output = await run("/bin/ps", ["-axo", "pgid=,rss="], { timeout: PS_TIMEOUT_MS }).catch(() => undefined);
  const bytes = new Map(groups.map((group) => [group, 0]));
  for (const line of output?.stdout.split("\n") ?? []) {
    const [group, kib] = line.trim().split(/\s+/).map(Number);
    const known = bytes.get(group!);
    if (known !== undefined) bytes.set(group!, known + kib! * 1_024);
  }
  return bytes;
}
