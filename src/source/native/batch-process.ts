import { type ChildProcess, spawn } from "node:child_process";
import { parse } from "node:path";
import { gitEnvironment } from "../git-environment.ts";
import { type Answer, answerParser } from "./answer-parser.ts";

/** A `git cat-file` that stays: answers ids in bulk, and is started anew when it has died. */
export interface BatchProcess {
  /**
   * Asks for each id and gives its answer to `visit`, in order.
   *
   * @throws BatchFailure when the process died twice at the same id, or said nothing for too long.
   */
  ask(ids: readonly string[], visit: (id: string, answer: Answer) => void, maxBytes?: number): Promise<void>;
  /** Ends the process after the requests made so far; the next request starts another. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

/** Why a batch did not end; `at` is the id that was not answered. */
export class BatchFailure extends Error {
  readonly at: string;
  readonly kind: "died" | "killed" | "silent" | "refused";

  constructor(kind: BatchFailure["kind"], at: string, message: string) {
    super(message);
    this.kind = kind;
    this.at = at;
  }
}

export interface BatchOptions {
  readonly git: string;
  readonly gitDir: string;
  readonly mode: "--batch" | "--batch-check";
  /** How long git may say nothing while it owes an answer. */
  readonly silenceMaxMs: number;
}

interface Pending {
  readonly ids: readonly string[];
  readonly visit: (id: string, answer: Answer) => void;
  readonly maxBytes: number;
  /** How many are answered. */
  next: number;
  settle(failure?: BatchFailure): void;
}

const WRITE_AT_ONCE = 4096;
const STDERR_KEPT = 2000;
const CLOSE_MAX_MS = 2_000;

export function openBatchProcess(options: BatchOptions): BatchProcess {
  let running: Running | undefined;
  let tail: Promise<unknown> = Promise.resolve();
  let closed = false;

  // One request at a time: answers carry no number.
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = tail.then(work);
    tail = turn.catch(() => {});
    return turn;
  }

  async function askInTurn(ids: readonly string[], visit: Pending["visit"], maxBytes: number): Promise<void> {
    let from = 0;
    let attemptsHere = 0;
    while (from < ids.length) {
      if (closed) throw new BatchFailure("refused", ids[from]!, "the reader is closed");
      running ??= startProcess(options, () => (running = undefined));
      const { answered, failure } = await running.ask(ids.slice(from, from + WRITE_AT_ONCE), visit, maxBytes);
      from += answered;
      if (failure === undefined) continue;
      attemptsHere = answered > 0 ? 1 : attemptsHere + 1;
      if (attemptsHere >= 2 || failure.kind === "silent" || failure.kind === "refused") throw failure;
    }
  }

  const stop = () => running?.stop() ?? Promise.resolve();
  return {
    ask: (ids, visit, maxBytes = Number.POSITIVE_INFINITY) => inTurn(() => askInTurn(ids, visit, maxBytes)),
    restart: () => inTurn(stop),
    close: () => {
      closed = true;
      return inTurn(stop);
    },
  };
}

interface Running {
  ask(
    ids: readonly string[],
    visit: Pending["visit"],
    maxBytes: number,
  ): Promise<{ answered: number; failure: BatchFailure | undefined }>;
  stop(): Promise<void>;
}

function startProcess(options: BatchOptions, onEnd: () => void): Running {
  const { git, gitDir, mode, silenceMaxMs } = options;
  const child = spawn(git, [`--git-dir=${gitDir}`, "cat-file", mode], {
    // Not the repository: it may be gone, and must not be held.
    cwd: parse(gitDir).root,
    env: gitEnvironment(git),
    stdio: ["pipe", "pipe", "pipe"],
  });
  let pending: Pending | undefined;
  let stderr = "";
  let watchdog: NodeJS.Timeout | undefined;
  let over = false;

  function watch(): void {
    clearTimeout(watchdog);
    watchdog = setTimeout(() => fail("silent", `git said nothing for ${silenceMaxMs / 1000} s`), silenceMaxMs);
  }

  function fail(kind: BatchFailure["kind"], message: string): void {
    if (over) return;
    over = true;
    clearTimeout(watchdog);
    onEnd();
    child.kill("SIGKILL");
    const request = pending;
    pending = undefined;
    request?.settle(new BatchFailure(kind, request.ids[request.next] ?? "", message));
  }

  const parseChunk = answerParser({
    withContent: mode === "--batch",
    maxBytes: () => pending?.maxBytes ?? 0,
    onAnswer(answer) {
      if (pending === undefined) throw new Error("git answered what nobody asked");
      pending.visit(pending.ids[pending.next]!, answer);
      pending.next += 1;
      if (pending.next === pending.ids.length) {
        clearTimeout(watchdog);
        const done = pending;
        pending = undefined;
        done.settle();
      }
    },
  });

  child.stdout.on("data", (chunk: Buffer) => {
    if (over) return;
    watch();
    try {
      parseChunk(chunk);
    } catch (error) {
      fail("refused", error instanceof Error ? error.message : String(error));
    }
  });
  child.stderr.on("data", (chunk: Buffer) => (stderr = (stderr + chunk.toString()).slice(-STDERR_KEPT)));
  child.stdin.on("error", () => {}); // EPIPE: the end of the process tells more
  child.on("error", (error) => fail("refused", `git cannot be started: ${error.message}`));
  child.on("close", (code, signal) => {
    const said = stderr.trim().replaceAll(/\s*\n\s*/g, "; ");
    fail(signal ? "killed" : "died", said || `git ended with ${signal ?? code}`);
  });

  return {
    ask: (ids, visit, maxBytes) =>
      new Promise((settled) => {
        const request: Pending = {
          ids,
          visit,
          maxBytes,
          next: 0,
          settle: (failure) => settled({ answered: request.next, failure }),
        };
        pending = request;
        watch();
        child.stdin.write(`${ids.join("\n")}\n`);
      }),
    stop: () => endProcess(child),
  };
}

async function endProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const impatient = setTimeout(() => child.kill("SIGKILL"), CLOSE_MAX_MS);
  child.stdin?.end();
  await ended;
  clearTimeout(impatient);
}
