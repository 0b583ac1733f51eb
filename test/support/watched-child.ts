import type { ChildProcess } from "node:child_process";
import { onTestFinished } from "vitest";
import { processesBelow } from "./process-tree.ts";
import { within } from "./within.ts";

export interface ChildEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A process whose failure to do what is awaited tells what it wrote, and what it does instead. */
export interface WatchedChild {
  /** What it wrote so far to stdout and stderr, as far as they are pipes. */
  output(): string;
  /** Waits until it has written this. @throws Error with its output when it ends before */
  says(text: string): Promise<void>;
  /** Waits for its end; of what it wrote the last may be missing. */
  exited(): Promise<ChildEnd>;
  /** Waits for its end and that of its pipes, which its children may hold. */
  closed(): Promise<ChildEnd>;
}

/** Listens from the start to a child that was just made; it is killed when the test ends. */
export function watchChild(child: ChildProcess): WatchedChild {
  const name = child.spawnargs.slice(1).join(" ");
  let output = "";
  const listeners = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (chunk) => {
      output += String(chunk);
      for (const listener of listeners) listener();
    });
  const endAt = (event: "exit" | "close") =>
    new Promise<ChildEnd>((resolve, reject) => {
      child.once("error", reject).once(event, (code, signal) => resolve({ code, signal }));
    });
  const [exited, closed] = [endAt("exit"), endAt("close")];
  // Whoever asks is told; nobody has to.
  for (const end of [exited, closed]) end.catch(() => undefined);
  onTestFinished(() => void child.kill("SIGKILL"));

  const tell = () => `its processes\n${processesBelow(child.pid ?? 0)}\nit wrote\n${output}`;
  const said = (text: string) =>
    new Promise<void>((resolve, reject) => {
      const look = () => void (output.includes(text) && resolve());
      listeners.add(look);
      look();
      const tooSoon = ({ code, signal }: ChildEnd) =>
        reject(new Error(`${name} ended with ${code ?? signal} before it said ${JSON.stringify(text)}:\n${output}`));
      closed.then(tooSoon, reject);
    });
  return {
    output: () => output,
    says: (text) => within(`${name} says ${JSON.stringify(text)}`, said(text), tell),
    exited: () => within(`the end of ${name}`, exited, tell),
    closed: () => within(`the end of ${name} and of its output`, closed, tell),
  };
}
