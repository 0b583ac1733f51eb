import type { Clock } from "../../controller/clock.ts";
import type { LogFile } from "../../processes/index.ts";
import type { ImageJobRequest, ImageJobState, ImageJobs } from "../image-jobs.ts";
import type { Making } from "../making.ts";

export interface JobTableOptions {
  readonly clock: Pick<Clock, "now">;
  /** Where the output of a job goes that begins now. */
  readonly logOf: (request: ImageJobRequest) => LogFile;
  /** How the job ends. Never rejects. */
  readonly run: (request: ImageJobRequest, making: Making) => Promise<ImageJobState>;
}

export interface JobTable extends ImageJobs {
  /** Ends what runs, and waits for it. */
  close(): Promise<void>;
}

interface Job {
  state: ImageJobState;
  readonly log: LogFile;
  readonly stop: AbortController;
  done: Promise<void>;
}

/** ImageJobs that run in this process: it knows those alone, each by its key, and what they came to. */
export function jobTable({ clock, logOf, run }: JobTableOptions): JobTable {
  const jobs = new Map<string, Job>();
  const listeners = new Set<(key: string) => void>();

  function begin(request: ImageJobRequest): Job {
    const { key } = request;
    const startedAt = clock.now();
    const log = logOf(request);
    const stop = new AbortController();
    const job: Job = { state: { phase: "building", startedAt, step: "starting" }, log, stop, done: Promise.resolve() };
    const tell = (state: ImageJobState) => {
      job.state = state;
      if (jobs.get(key) === job) for (const listener of listeners) listener(key);
    };
    const step = (name: string) => tell({ phase: "building", startedAt, step: name });
    job.done = run(request, { log, signal: stop.signal, step }).then(async (state) => {
      await log.finish();
      tell(state);
    });
    return job;
  }

  async function end(job: Job | undefined, why: string): Promise<void> {
    job?.stop.abort(new Error(why));
    await job?.done;
  }

  return {
    async ensure(request) {
      const known = jobs.get(request.key);
      if (known && !isStale(known.state, request.retryBefore)) return known.state;
      const job = begin(request);
      jobs.set(request.key, job);
      return job.state;
    },
    async cancel(key) {
      const job = jobs.get(key);
      jobs.delete(key);
      await end(job, "nobody wants it any more");
    },
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async *logs(key, options) {
      const job = jobs.get(key);
      if (job) yield* job.log.read(options);
    },
    async close() {
      await Promise.all([...jobs.values()].map((job) => end(job, "it is shutting down")));
    },
  };
}

function isStale(state: ImageJobState, before: Date | undefined): boolean {
  if (!before || state.phase === "building") return false;
  return (state.phase === "built" ? state.builtAt : state.failedAt) < before;
}
