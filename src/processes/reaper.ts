import { type ChildProcess, spawn } from "node:child_process";
import { MARK_VARIABLE } from "./marked-processes.ts";

export interface Reaper {
  /** From now on the group dies with this process. Written before the call returns. */
  watch(group: number): void;
  forget(group: number): void;
  /** Ends the reaper without killing anything. */
  close(): Promise<void>;
}

// Reads "+ group", "- group" and "close"; when the pipe closes without that, because we died in whatever way, it kills
// what is left: the groups, and where /proc tells environments what has a mark of this life. It looks again until
// nothing is found, for a process may fork behind a look, but not for ever: one may hang in the kernel.
const SCRIPT = `
trap '' HUP INT TERM QUIT
live=' '
while read -r change group; do
  case $change in
    close) exit 0 ;;
    +) live="$live$group " ;;
    -) case $live in *" $group "*) live="\${live%%" $group "*} \${live#*" $group "}" ;; esac ;;
  esac
done
for group in $live; do kill -s KILL -- "-$group" 2>/dev/null; done
[ -r /proc/self/environ ] || exit 0
looks=0
while [ $looks -lt 100 ]; do
  found=$(grep -lF "${MARK_VARIABLE}=$1/" /proc/[0-9]*/environ 2>/dev/null)
  [ -n "$found" ] || exit 0
  for file in $found; do
    pid=\${file#/proc/}
    kill -s KILL "\${pid%/environ}" 2>/dev/null
  done
  looks=$((looks + 1))
done
`;

/**
 * A small process that outlives this one just long enough to kill the registered process groups, and what is marked
 * with `life`. It does not rely on
 * anything that we could do at our own end, so it also works after a SIGKILL. Should it die itself, it is replaced.
 */
export function startReaper(life: string): Reaper {
  const groups = new Set<number>();
  let closing = false;
  let child = start();

  function start(): ChildProcess {
    const started = spawn("/bin/sh", ["-c", SCRIPT, "sh", life], {
      stdio: ["pipe", "ignore", "ignore"],
      detached: true,
      env: {},
    });
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
      child.stdin?.write("close\n");
      const ended = new Promise((resolve) => child.once("exit", resolve));
      // Unref'd, its end would be waited for by a process that has nothing else to do, and ends before.
      child.ref();
      child.stdin?.end();
      if (child.exitCode === null && child.signalCode === null && child.pid !== undefined) await ended;
    },
  };
}
