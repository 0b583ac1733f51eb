import { type ChildProcess, spawn } from "node:child_process";

export interface Reaper {
  /** From now on the group dies with this process. Written before the call returns. */
  watch(group: number): void;
  forget(group: number): void;
  /** Ends the reaper without killing anything. */
  close(): Promise<void>;
}

// Reads "+ group" and "- group"; when the pipe closes, because we died in whatever way, it kills what is left.
const SCRIPT = `
trap '' HUP INT TERM QUIT
live=' '
while read -r change group; do
  case $change in
    +) live="$live$group " ;;
    -) case $live in *" $group "*) live="\${live%%" $group "*} \${live#*" $group "}" ;; esac ;;
  esac
done
for group in $live; do kill -s KILL -- "-$group" 2>/dev/null; done
`;

/**
 * A small process that outlives this one just long enough to kill the registered process groups. It does not rely on
 * anything that we could do at our own end, so it also works after a SIGKILL. Should it die itself, it is replaced.
 */
export function startReaper(): Reaper {
  const groups = new Set<number>();
  let closing = false;
  let child = start();

  function start(): ChildProcess {
    const started = spawn("/bin/sh", ["-c", SCRIPT], { stdio: ["pipe", "ignore", "ignore"], detached: true, env: {} });
    started.on("error", () => undefined);
    started.stdin.on("error", () => undefined); // EPIPE: its exit follows
    started.once("exit", () => {
      if (!closing) child = start();
    });
    for (const group of groups) started.stdin.write(`+ ${group}\n`);
    started.unref();
    return started;
  }

  return {
    watch(group) {
      groups.add(group);
      child.stdin?.write(`+ ${group}\n`);
    },
    forget(group) {
      groups.delete(group);
      child.stdin?.write(`- ${group}\n`);
    },
    async close() {
      closing = true;
      for (const group of groups) child.stdin?.write(`- ${group}\n`);
      const ended = new Promise((resolve) => child.once("exit", resolve));
      // Unref'd, its end would be waited for by a process that has nothing else to do, and ends before.
      child.ref();
      child.stdin?.end();
      if (child.exitCode === null && child.signalCode === null && child.pid !== undefined) await ended;
    },
  };
}
