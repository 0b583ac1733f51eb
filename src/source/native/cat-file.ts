import { type ChildProcess, spawn } from "node:child_process";
import { parse } from "node:path";
import { messageOf } from "../../errors/index.ts";
import { gitEnvironment } from "../git-environment.ts";
import { type Answer, answerParser } from "./answer-parser.ts";
import type { CatFileDialect } from "./cat-file-dialect.ts";

export interface CatFileOptions {
  readonly git: string;
  readonly gitDir: string;
  readonly dialect: CatFileDialect;
  /** How long git may say nothing while it owes an answer. */
  readonly silenceMaxMs: number;
}

/** Why a process ended with answers owed; `at` is the first id without one. */
export class CatFileFailure extends Error {
  readonly at: string;
  /** By itself, by a signal; ended by us because it was silent, or because of what it said. */
  readonly kind: "died" | "killed" | "silent" | "refused";

  constructor(kind: CatFileFailure["kind"], at: string, message: string) {
    super(message);
    this.kind = kind;
    this.at = at;
  }
}

export interface CatFileRequest {
  readonly ids: readonly string[];
  readonly visit: (id: string, answer: Answer) => void;
  /** Of one object; undefined asks for types and sizes only. */
  readonly maxBytes: number | undefined;
}

/** How far a request came. */
export interface CatFileOutcome {
  readonly answered: number;
  readonly failure: CatFileFailure | undefined;
}

/** One `git cat-file` process, good for one request at a time until it ends. */
export interface CatFile {
  ask(request: CatFileRequest): Promise<CatFileOutcome>;
  stop(): Promise<void>;
}

const STDERR_KEPT = 2000;
const STOP_MAX_MS = 2_000;

/** @param onEnd called once, when it takes no more requests */
export function startCatFile({ git, gitDir, dialect, silenceMaxMs }: CatFileOptions, onEnd: () => void): CatFile {
  const child = spawn(git, [`--git-dir=${gitDir}`, "cat-file", ...dialect.options], {
    // Not the repository: it may be gone, and must not be held.
    cwd: parse(gitDir).root,
    env: gitEnvironment(git),
    stdio: ["pipe", "pipe", "pipe"],
  });
  let current: (CatFileRequest & { answered: number; settle(failure?: CatFileFailure): void }) | undefined;
  let stderr = "";
  let watchdog: NodeJS.Timeout | undefined;
  let isOver = false;

  function watch(): void {
    clearTimeout(watchdog);
    watchdog = setTimeout(() => end("silent", `git said nothing for ${silenceMaxMs / 1000} s`), silenceMaxMs);
  }

  function settle(failure?: CatFileFailure): void {
    clearTimeout(watchdog);
    const settled = current;
    current = undefined;
    settled?.settle(failure);
  }

  function end(kind: CatFileFailure["kind"], message: string): void {
    if (isOver) return;
    isOver = true;
    child.kill("SIGKILL");
    onEnd();
    settle(new CatFileFailure(kind, current?.ids[current.answered] ?? "", message));
  }

  function onAnswer(answer: Answer): void {
    if (current === undefined) throw new Error("git answered what nobody asked");
    current.visit(current.ids[current.answered]!, answer);
    current.answered += 1;
    if (current.answered === current.ids.length) settle();
  }

  const take = answerParser({ maxBytes: () => current?.maxBytes, onAnswer });
  child.stdout.on("data", (chunk: Buffer) => {
    if (isOver) return;
    try {
      take(chunk);
      if (current) watch();
    } catch (error) {
      end("refused", messageOf(error));
    }
  });
  child.stderr.on("data", (chunk: Buffer) => {
    stderr = (stderr + chunk.toString()).slice(-STDERR_KEPT);
  });
  child.stdin.on("error", () => {}); // EPIPE: the end of the process tells more
  child.on("error", (error) => end("refused", `git cannot be started: ${error.message}`));
  child.on("close", (code, signal) => {
    const said = stderr.trim().replaceAll(/\s*\n\s*/g, "; ");
    end(signal ? "killed" : "died", said || `git ended with ${signal ?? code}`);
  });

  return {
    ask: (request) =>
      new Promise((resolve) => {
        const asked = {
          ...request,
          answered: 0,
          settle: (failure?: CatFileFailure) => resolve({ answered: asked.answered, failure }),
        };
        current = asked;
        watch();
        child.stdin.write(dialect.write(request.ids, request.maxBytes !== undefined));
      }),
    stop: () => stopChild(child),
  };
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const impatient = setTimeout(() => child.kill("SIGKILL"), STOP_MAX_MS);
  child.stdin?.end();
  await ended;
  clearTimeout(impatient);
}
