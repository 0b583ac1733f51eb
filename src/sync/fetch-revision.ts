import { isDeepStrictEqual } from "node:util";
import { durationMs, type ObjectOf, type RepositorySpec } from "../apis/index.ts";
import type { TimerClock } from "../controller/index.ts";
import { SlessError } from "../errors/index.ts";
import type { Resolved } from "../source/index.ts";
import { intervalMs } from "./next-after.ts";
import { isAskedFor, OK, type Outcome, type Run } from "./run.ts";
import type { SyncDeps } from "./sync-deps.ts";
import { closeOpened, type OpenRepository } from "./sync-memory.ts";

const DEFAULT_TIMEOUT = "1m";
/** However long `spec.timeout` is: others wait for the place of one that never ends. */
const TIMEOUT_MAX_MS = 15 * 60_000;
/** Runs that live objects bring about can come one after the other; a server is not asked for each of them. */
const ANSWER_GOOD_MS = 10_000;

/** Opens the repository where it is not open yet, and asks which commit its ref names now. */
export async function fetchRevision(run: Run, deps: SyncDeps): Promise<Outcome> {
  const { repository, memory } = run;
  const { report, clock } = deps;
  const started = clock.monotonicMs();
  try {
    run.resolved =
      recentAnswer(run, clock) ??
      (await rememberedAnswer(run, deps)) ??
      (await withinTimeout(ask(run, deps), repository, clock));
  } catch (error) {
    memory.isFetchFailing = true;
    // The reader may hold on to a repository that was moved away or replaced: the next run opens it anew.
    await closeOpened(memory);
    throw error;
  }
  const { revision } = run.resolved;
  if (revision !== repository.status?.lastFetchedRevision) {
    report({ step: "fetched", repository: keyIn(repository), revision, durationMs: clock.monotonicMs() - started });
  }
  return OK;
}

async function ask(run: Run, deps: SyncDeps): Promise<Resolved> {
  const { repository, memory } = run;
  const opened = await openGit(run, deps);
  const ref = { ...repository.spec.ref };
  memory.isHinted = false;
  const resolved = await opened.git.resolve(ref);
  memory.isFetchFailing = false;
  if (opened.git.asksServer) memory.answer = { opened, ref, resolved, atMs: deps.clock.monotonicMs() };
  return resolved;
}

/** What the server said a moment ago, unless there is a reason to ask again. */
function recentAnswer(run: Run, clock: TimerClock): Resolved | undefined {
  const { memory, repository } = run;
  const { answer, settled, opened, isHinted } = memory;
  const { ref = {} } = repository.spec;
  if (!answer || answer.opened !== opened || opened.source !== sourceOf(repository.spec)) return undefined;
  if (!settled || isHinted || isAskedFor(run) || !isDeepStrictEqual(answer.ref, { ...ref })) return undefined;
  const goodMs = Math.min(ANSWER_GOOD_MS, intervalMs(repository) / 2);
  return clock.monotonicMs() - answer.atMs < goodMs ? answer.resolved : undefined;
}

/** For a run that only puts back what somebody changed: what the server said last, also when it does not answer now. */
async function rememberedAnswer(run: Run, deps: SyncDeps): Promise<Resolved | undefined> {
  const { memory, repository } = run;
  const { answer, isDrifted, isHinted } = memory;
  memory.isDrifted = false;
  const { ref = {} } = repository.spec;
  if (!isDrifted || !answer || isHinted || isAskedFor(run)) return undefined;
  if (answer.opened.source !== sourceOf(repository.spec) || !isDeepStrictEqual(answer.ref, { ...ref }))
    return undefined;
  await openGit(run, deps);
  run.isFromMemory = true;
  return answer.resolved;
}

export function keyIn({ metadata }: ObjectOf<"Repository">) {
  return { namespace: metadata.namespace, name: metadata.name };
}

async function openGit({ repository, memory }: Run, deps: SyncDeps): Promise<OpenRepository> {
  const source = sourceOf(repository.spec);
  if (memory.opened?.source === source) return memory.opened;
  await closeOpened(memory);
  memory.opened = { source, git: await deps.openGit(repository) };
  return memory.opened;
}

/** What decides which repository it is. */
function sourceOf({ url, secretRef }: Pick<RepositorySpec, "url" | "secretRef">): string {
  return JSON.stringify([url, secretRef?.name]);
}

async function withinTimeout<T>(work: Promise<T>, { spec }: ObjectOf<"Repository">, clock: TimerClock): Promise<T> {
  const timeout = spec.timeout ?? DEFAULT_TIMEOUT;
  const ms = Math.min(durationMs(timeout), TIMEOUT_MAX_MS);
  let cancel = () => {};
  const late = new Promise<never>((_resolve, reject) => {
    const cause = `it did not answer within ${ms === TIMEOUT_MAX_MS ? "15m" : timeout}`;
    cancel = clock.setTimer(ms, () => reject(new SlessError("repository_unreachable", { url: spec.url, cause })));
  });
  return Promise.race([work, late]).finally(() => cancel());
}
