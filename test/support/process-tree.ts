import { execFileSync } from "node:child_process";

/** Pids of living processes whose command line holds `text`, perhaps only children of `parent`; a zombie is none. */
export function processesWith(text: string, parent?: number): number[] {
  const lines = execFileSync("ps", ["-eo", "pid=,ppid=,stat=,args="], { encoding: "utf8" }).split("\n");
  return lines
    .map((line) => /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line))
    .filter((match) => match !== null)
    .filter(([, , , state, args]) => !state!.startsWith("Z") && args!.includes(text))
    .filter(([, , of]) => parent === undefined || Number(of) === parent)
    .map((match) => Number(match[1]));
}

/** Kills those that still live: one that was listed may have ended since. */
export function killThose(pids: readonly number[]): void {
  for (const pid of pids)
    try {
      process.kill(pid, "SIGKILL");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
}

const LINE_LENGTH = 200;

/** A process and what descends from it as `ps` shows them, with what they wait for in the kernel. */
export function processesBelow(root: number): string {
  const columns = "pid=,ppid=,stat=,etime=,wchan=,args=";
  const lines = execFileSync("ps", ["-ww", "-eo", columns], { encoding: "utf8" }).trimEnd().split("\n");
  const [pids, found] = [new Set([root]), new Set<string>()];
  for (let size = -1; size < found.size; ) {
    size = found.size;
    for (const line of lines) {
      const [pid, parent] = line.trim().split(/\s+/, 2).map(Number) as [number, number];
      if (pids.has(pid) || pids.has(parent)) {
        pids.add(pid);
        found.add(line.slice(0, LINE_LENGTH));
      }
    }
  }
  return [...found].join("\n");
}
