import type { Answer } from "./answer-parser.ts";
import { type CatFile, CatFileFailure, type CatFileOptions, startCatFile } from "./cat-file.ts";

/** A `git cat-file` that stays: started when first asked, and anew when it has died. */
export interface BatchProcess {
  /**
   * Asks for each id and gives its answer to `visit`, in order.
   *
   * @param maxBytes of one object; without it contents are not asked for
   * @throws CatFileFailure when it died twice at the same id, was silent, or said what no git says
   */
  ask(ids: readonly string[], visit: (id: string, answer: Answer) => void, maxBytes?: number): Promise<void>;
  /** Ends the process after the requests made so far; the next request starts another. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

/** Ids per write: enough to keep git busy, few enough to hold in a pipe's queue. */
const IDS_AT_ONCE = 4096;
const ATTEMPTS_PER_ID = 2;

export function openBatchProcess(options: CatFileOptions): BatchProcess {
  let running: CatFile | undefined;
  let tail: Promise<unknown> = Promise.resolve();
  let isClosed = false;

  // One request at a time: answers carry no number.
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = tail.then(work);
    tail = turn.catch(() => {});
    return turn;
  }

  function start(): CatFile {
    const started = startCatFile(options, () => {
      if (running === started) running = undefined;
    });
    return started;
  }

  async function askAll(ids: readonly string[], visit: (id: string, answer: Answer) => void, maxBytes?: number) {
    let from = 0;
    let attempts = 0;
    while (from < ids.length) {
      if (isClosed) throw new CatFileFailure("refused", ids[from]!, "the reader is closed");
      running ??= start();
      const { answered, failure } = await running.ask({ ids: ids.slice(from, from + IDS_AT_ONCE), visit, maxBytes });
      from += answered;
      if (failure === undefined) continue;
      attempts = answered > 0 ? 1 : attempts + 1;
      const isHopeless = failure.kind === "silent" || failure.kind === "refused";
      if (isHopeless || attempts >= ATTEMPTS_PER_ID) throw failure;
    }
  }

  const stop = async () => running?.stop();
  return {
    ask: (ids, visit, maxBytes) => inTurn(() => askAll(ids, visit, maxBytes)),
    restart: () => inTurn(stop),
    close: () => {
      isClosed = true;
      return inTurn(stop);
    },
  };
}
