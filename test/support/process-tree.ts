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
