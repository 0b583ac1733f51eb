import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate, setTimeout } from "node:timers/promises";

/** Every child has it in its environment, and so has all that it starts: `<life>/<number>`. */
export const MARK_VARIABLE = "SLESS_PROCESS";

const LIFE_FILE = /^life-([0-9a-f]{32})$/;
/** Then others have their turn. */
const READS_AT_ONCE = 50;
/** What forks faster than it is killed, or hangs in the kernel, is not waited for longer. */
const KILL_WAIT_MS = 2_000;

/**
 * Knows what children started, also in a session of their own, which no signal to a group reaches: by a mark in the
 * environment, random for each life of this process and recorded, so that no stranger has it. Only on Linux, where
 * `/proc` tells environments; elsewhere nothing is found. A process that clears its own environment is out of reach.
 */
export interface MarkedProcesses {
  /** The part of the marks that tells this life from all others. */
  readonly life: string;
  /** A mark for one more child. */
  next(): string;
  /** Kills what has the mark; resolves when nothing has. Children that end together cost one look. */
  kill(mark: string): Promise<void>;
  /** Kills what has any mark of this life, and forgets the life. */
  close(): Promise<void>;
}

/** @param folder holds a file for each life that has not been closed */
export function openMarkedProcesses(folder: string): MarkedProcesses {
  const life = randomBytes(16).toString("hex");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `life-${life}`), "");
  const waiting = new Set<string>();
  let looking: Promise<void> | undefined;
  let count = 0;

  async function killWaiting(): Promise<void> {
    while (waiting.size > 0) {
      const marks = new Set(waiting);
      waiting.clear();
      await killMarked((mark) => marks.has(mark));
    }
    looking = undefined;
  }

  return {
    life,
    next: () => `${life}/${++count}`,
    kill(mark) {
      waiting.add(mark);
      looking ??= killWaiting();
      return looking;
    },
    async close() {
      await killMarked((mark) => lifeOf(mark) === life);
      rmSync(join(folder, `life-${life}`), { force: true });
    },
  };
}

/** Kills what the lives recorded in the folder left; resolves when it is gone. */
export async function sweepMarked(folder: string): Promise<void> {
  const lives = new Set(namesIn(folder).flatMap((name) => LIFE_FILE.exec(name)?.[1] ?? []));
  if (lives.size === 0) return;
  await killMarked((mark) => lives.has(lifeOf(mark)));
  for (const life of lives) rmSync(join(folder, `life-${life}`), { force: true });
}

function lifeOf(mark: string): string {
  return mark.slice(0, mark.indexOf("/"));
}

/** Looks until nothing is found: what was forked behind a look has the mark too. */
async function killMarked(isMeant: (mark: string) => boolean): Promise<void> {
  if (process.platform !== "linux") return;
  const deadline = performance.now() + KILL_WAIT_MS;
  while ((await killOnce(isMeant)) && performance.now() < deadline) await setTimeout(5);
}

/** @returns whether there was one */
async function killOnce(isMeant: (mark: string) => boolean): Promise<boolean> {
  let found = false;
  const pids = namesIn("/proc").map(Number).filter(Number.isInteger);
  for (const [index, pid] of pids.entries()) {
    if (index % READS_AT_ONCE === READS_AT_ONCE - 1) await setImmediate();
    const mark = pid === process.pid ? undefined : markOf(pid);
    if (mark === undefined || !isMeant(mark)) continue;
    found = true;
    killIfThere(pid);
  }
  return found;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // Gone meanwhile.
  }
}

const NAME = `${MARK_VARIABLE}=`;

/** Undefined also for what is gone, a zombie, or another user's. Synchronous: the kernel answers from memory. */
function markOf(pid: number): string | undefined {
  let environment: string;
  try {
    environment = readFileSync(`/proc/${pid}/environ`, "latin1");
  } catch {
    return undefined;
  }
  const at = environment.startsWith(NAME) ? 0 : environment.indexOf(`\0${NAME}`) + 1;
  if (at === 0 && !environment.startsWith(NAME)) return undefined;
  return environment.slice(at + NAME.length).split("\0", 1)[0];
}
