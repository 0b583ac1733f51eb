import { rm } from "node:fs/promises";
import { isSlessError, messageOf, SlessError } from "../../errors/index.ts";
import type { ObjectId } from "../git-reader.ts";
import type { Fetcher, FetchRequest } from "./fetcher.ts";
import { dropKept, isKept, keep, keptCommits, makeMirror, packCount, removeLeftovers } from "./mirror-folder.ts";
import { createTurns } from "./turns.ts";

/** One fetch makes one pack. */
const PACKS_BEFORE_TIDY = 30;
/** For a fetcher that cannot tidy, and sends for everything every time. */
const PACKS_BEFORE_ANEW = 20;
const TIDY_MAX_MS = 300_000;
const NEVER = new AbortController().signal;

export type MirrorRequest = Omit<FetchRequest, "mirror">;

/** A bare repository on disk with commits of one remote repository, which several readers may share. */
export interface Mirror {
  readonly folder: string;
  /**
   * Sees to it that a commit is there with all that it needs; fetches nothing when it is. It stays until `user` asks for
   * another one, or leaves.
   *
   * @throws what the fetcher throws; SlessError `storage_unavailable`
   */
  ensure(user: object, request: MirrorRequest): Promise<void>;
  /** Somebody found an object missing or corrupt: the next `ensure` makes it anew. */
  distrust(): void;
  leave(user: object): void;
  /** Ends what goes on without anybody waiting for it. */
  rest(): Promise<void>;
  /** Removes it; the next `ensure` makes it anew. */
  remove(): Promise<void>;
}

export function createMirror(folder: string, fetcher: Fetcher): Mirror {
  const turns = createTurns();
  const wanted = new Map<object, ObjectId>();
  let isTrusted = true;
  // Of an earlier process, or of one that was killed.
  let mayHaveLeftovers = true;
  let tidying = new AbortController();

  async function prepare(commit: ObjectId): Promise<void> {
    const isCrowded = fetcher.tidy === undefined && (await packCount(folder)) >= PACKS_BEFORE_ANEW;
    if (!isTrusted || isCrowded) await rm(folder, { recursive: true, force: true });
    isTrusted = true;
    await makeMirror(folder, commit);
    if (mayHaveLeftovers) await removeLeftovers(folder);
    mayHaveLeftovers = false;
  }

  async function fetch(request: MirrorRequest): Promise<void> {
    mayHaveLeftovers = true;
    try {
      await fetcher.fetch({ ...request, mirror: folder });
    } catch (error) {
      // What is not the server's or the network's alone may be the mirror's.
      isTrusted = request.signal.aborted || isSlessError(error);
      throw error;
    }
    mayHaveLeftovers = false;
    await onDisk(folder, () => keep(folder, request.commit));
  }

  /** Nobody waits for it but the next one who fetches. */
  async function tidy(ended: AbortSignal): Promise<void> {
    if (fetcher.tidy === undefined || (await packCount(folder)) < PACKS_BEFORE_TIDY) return;
    const needed = new Set(wanted.values());
    const kept = await keptCommits(folder);
    mayHaveLeftovers = true;
    const signal = AbortSignal.any([ended, AbortSignal.timeout(TIDY_MAX_MS)]);
    try {
      await dropKept(
        folder,
        kept.filter((commit) => !needed.has(commit)),
      );
      await fetcher.tidy(folder, signal);
      mayHaveLeftovers = false;
    } catch {
      isTrusted = ended.aborted;
    }
  }

  function tidyLater(): void {
    const { signal } = tidying;
    turns.take(signal, () => tidy(signal)).catch(() => {});
  }

  async function rest(): Promise<void> {
    tidying.abort();
    tidying = new AbortController();
    await turns.take(NEVER, async () => {});
  }

  return {
    folder,
    ensure: (user, request) =>
      turns.take(request.signal, async () => {
        await onDisk(folder, () => prepare(request.commit));
        const isFetched = await isKept(folder, request.commit);
        if (!isFetched) await fetch(request);
        wanted.set(user, request.commit);
        if (!isFetched) tidyLater();
      }),
    distrust() {
      isTrusted = false;
    },
    leave: (user) => void wanted.delete(user),
    rest,
    remove: () => turns.take(NEVER, () => onDisk(folder, () => rm(folder, { recursive: true, force: true }))),
  };
}

async function onDisk<T>(folder: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new SlessError("storage_unavailable", { what: folder, cause: messageOf(error) }, { cause: error });
  }
}
