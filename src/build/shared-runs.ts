import { join } from "node:path";
import type { Clock } from "../controller/clock.ts";
import { type LogFile, logFile } from "../processes/index.ts";
import { type BuildFault, toBuildFault } from "./build-fault.ts";
import type { Making } from "./making.ts";
import { retryDelayMs } from "./retry-delay.ts";

const LOG_MAX_BYTES = 10 * 1024 * 1024;

/** What one who waits for a run is told of it: all of its output, and its steps. */
export type RunUser = Making;

/** What a run is given. Its signal aborts, with the reason of the last who waited, when nobody waits any more. */
export type RunContext = Making;

/** Long work by key, shared by all who want the same at the same time; what failed waits before it is done again. */
export interface SharedRuns<Wanted, Result> {
  /**
   * Joins the run of the key, or begins one.
   *
   * @throws BuildFault of the run, also of one that failed not long ago; the signal's reason
   */
  provide(key: string, wanted: Wanted, user: RunUser): Promise<Result>;
  isRunning(key: string): boolean;
}

interface SharedRunsOptions<Wanted, Result> {
  /** Output lies here while a run goes on. */
  readonly folder: string;
  readonly clock: Clock;
  readonly run: (key: string, wanted: Wanted, context: RunContext) => Promise<Result>;
}

interface Run<Result> {
  readonly done: Promise<Result>;
  readonly stop: AbortController;
  readonly log: LogFile;
  readonly users: Set<RunUser>;
  step: string | undefined;
}

export function openSharedRuns<Wanted, Result>(options: SharedRunsOptions<Wanted, Result>): SharedRuns<Wanted, Result> {
  const { folder, clock } = options;
  const active = new Map<string, Run<Result>>();
  const failures = new Map<string, { readonly fault: BuildFault; readonly count: number; readonly retryMs: number }>();
  let started = 0;

  function remember(key: string, fault: BuildFault): void {
    const count = (failures.get(key)?.count ?? 0) + 1;
    failures.set(key, { fault, count, retryMs: clock.monotonicMs() + retryDelayMs(count, fault.code) });
  }

  function start(key: string, wanted: Wanted): Run<Result> {
    const stop = new AbortController();
    started += 1;
    // A name of its own: the log of an earlier run of the key may only now be removed.
    const log = logFile(join(folder, `run-${key}-${started}.log`), { maxBytes: LOG_MAX_BYTES, whenFull: "stop" });
    const users = new Set<RunUser>();
    const step = (name: string) => {
      run.step = name;
      for (const user of users) user.step(name);
    };
    const done = log
      .clear()
      .then(() => options.run(key, wanted, { log, signal: stop.signal, step }))
      .finally(() => log.finish())
      .then((result) => {
        failures.delete(key);
        return result;
      })
      .catch((error: unknown) => {
        if (!stop.signal.aborted) remember(key, toBuildFault(error));
        throw error;
      })
      .finally(() => active.delete(key));
    done.catch(() => undefined); // told to those who wait
    const run: Run<Result> = { done, stop, log, users, step: undefined };
    active.set(key, run);
    return run;
  }

  return {
    isRunning: (key) => active.has(key),
    async provide(key, wanted, user) {
      const failure = failures.get(key);
      if (failure && !active.has(key) && clock.monotonicMs() < failure.retryMs) throw failure.fault;
      user.signal.throwIfAborted();
      let run = active.get(key);
      while (run?.stop.signal.aborted) {
        // Nobody waited for it any more: what it comes to is no answer for somebody new.
        await run.done.catch(() => undefined);
        run = active.get(key);
      }
      user.signal.throwIfAborted();
      run ??= start(key, wanted);
      run.users.add(user);
      if (run.step !== undefined) user.step(run.step);
      try {
        await copyOutput(run.log, user);
        return await Promise.race([run.done, abortOf(user.signal)]);
      } finally {
        run.users.delete(user);
        if (run.users.size === 0) {
          run.stop.abort(user.signal.aborted ? user.signal.reason : new Error("nobody waits for it"));
          await run.done.catch(() => undefined);
          await run.log.clear();
        }
      }
    },
  };
}

/** Follows the output to its end: the run is over then, or the signal aborted. */
async function copyOutput(from: LogFile, { log, signal }: RunUser): Promise<void> {
  for await (const chunk of from.read({ follow: true, signal })) await log.append(chunk);
}

function abortOf(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
