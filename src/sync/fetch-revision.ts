import { durationMs, type ObjectOf, type RefSpec } from "../apis/index.ts";
import type { TimerClock } from "../controller/index.ts";
import { SlessError } from "../errors/index.ts";
import type { RefRequest } from "../source/index.ts";
import { OK, type Outcome, type Run } from "./run.ts";
import type { SyncDeps } from "./sync-deps.ts";
import { closeOpened, type OpenRepository } from "./sync-memory.ts";

const DEFAULT_TIMEOUT = "1m";

/** Opens the repository where it is not open yet, and asks which commit its ref names now. */
export async function fetchRevision(run: Run, deps: SyncDeps): Promise<Outcome> {
  const { repository, memory } = run;
  const { report, clock } = deps;
  const started = clock.monotonicMs();
  try {
    const resolving = openGit(run, deps).then(({ git }) => git.resolve(refRequest(repository.spec.ref)));
    run.resolved = await withinTimeout(resolving, repository, clock);
  } catch (error) {
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

export function keyIn({ metadata }: ObjectOf<"Repository">) {
  return { namespace: metadata.namespace, name: metadata.name };
}

async function openGit({ repository, memory }: Run, deps: SyncDeps): Promise<OpenRepository> {
  const source = JSON.stringify([repository.spec.url, repository.spec.secretRef?.name]);
  if (memory.opened?.source === source) return memory.opened;
  await closeOpened(memory);
  memory.opened = { source, git: await deps.openGit(repository) };
  return memory.opened;
}

function refRequest(ref: RefSpec | undefined): RefRequest {
  if (ref?.semver !== undefined) throw new SlessError("ref_unsupported", { field: "semver" });
  return { ...ref };
}

async function withinTimeout<T>(work: Promise<T>, { spec }: ObjectOf<"Repository">, clock: TimerClock): Promise<T> {
  const timeout = spec.timeout ?? DEFAULT_TIMEOUT;
  let cancel = () => {};
  const late = new Promise<never>((_resolve, reject) => {
    const cause = `it did not answer within ${timeout}`;
    cancel = clock.setTimer(durationMs(timeout), () =>
      reject(new SlessError("repository_unreachable", { url: spec.url, cause })),
    );
  });
  return Promise.race([work, late]).finally(() => cancel());
}
