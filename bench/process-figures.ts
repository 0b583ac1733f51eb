import { readFile } from "node:fs/promises";

/** Linux counts processor time in hundredths of a second, whatever its own clock does. */
const TICK_MS = 10;

export interface Memory {
  readonly residentMB: number;
  readonly peakMB: number;
}

/** Resident memory of a process; undefined where there is no /proc. */
export async function memoryOf(pid: number): Promise<Memory | undefined> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => undefined);
  if (status === undefined) return undefined;
  const megabytes = (field: string) => Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(status)?.[1]) / 1024;
  return { residentMB: megabytes("VmRSS"), peakMB: megabytes("VmHWM") };
}

/** User time of a process so far, all threads together, milliseconds; undefined where there is no /proc. */
export async function userMsOf(pid: number): Promise<number | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  // The name of the program, the second field, may hold anything: what follows its last bracket counts.
  const fields = stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
  return fields && Number(fields[11]) * TICK_MS;
}
