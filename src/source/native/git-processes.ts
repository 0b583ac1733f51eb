import { SlessError } from "../../errors/index.ts";
import { findGitDirectory, type GitDirectory } from "../git-directory.ts";
import type { ObjectId } from "../git-reader.ts";
import { isGitSince } from "../git-version.ts";
import { closedReader, objectMissing } from "../read-all.ts";
import type { Answer } from "./answer-parser.ts";
import { type BatchProcess, openBatchProcess } from "./batch-process.ts";
import { CatFileFailure } from "./cat-file.ts";
import { type CatFileDialect, CHECKS, COMMANDS, COMMANDS_SINCE, CONTENTS } from "./cat-file-dialect.ts";
import { type GitRun, runGit } from "./run-git.ts";

export interface NativeReaderOptions {
  /** Folder of the repository, bare or not, a linked worktree too. */
  readonly repository: string;
  /** Absolute path of git, as `findGit` answers it. */
  readonly git: string;
  /** How long git may owe an answer. Default 30,000 ms. */
  readonly silenceMaxMs?: number;
}

/** Called with each object's answer. */
export type Visit = (id: ObjectId, answer: Answer) => void;

/** The git processes of one repository, and what their failures mean. */
export interface GitProcesses {
  /** Looks again where the repository is: it may be gone, or made anew in another form. */
  place(): Promise<GitDirectory>;
  /** Contents in bulk; answers the ids that are missing. An object beyond `maxBytes` ends the request. */
  contents(ids: readonly ObjectId[], visit: Visit, maxBytes?: number): Promise<ObjectId[]>;
  /** Types and sizes in bulk; answers the ids that are missing. */
  checks(ids: readonly ObjectId[], visit: Visit): Promise<ObjectId[]>;
  /** One short command. Arguments must be checked before. */
  run(place: GitDirectory, args: readonly string[]): Promise<GitRun>;
  close(): Promise<void>;
}

const SILENCE_MAX_MS = 30_000;

/** @throws SlessError `repository_unreachable`, `repository_unsupported`, as all its functions do; also `object_missing` */
export async function openGitProcesses(options: NativeReaderOptions): Promise<GitProcesses> {
  const { repository, git, silenceMaxMs = SILENCE_MAX_MS } = options;
  let at = await findGitDirectory(repository);
  const hasCommands = await isGitSince(git, ...COMMANDS_SINCE);
  let batches = openBatches();
  let isClosed = false;

  function openBatches(): { contents: BatchProcess; checks: BatchProcess } {
    const open = (dialect: CatFileDialect) => openBatchProcess({ git, gitDir: at.gitDir, dialect, silenceMaxMs });
    if (!hasCommands) return { contents: open(CONTENTS), checks: open(CHECKS) };
    const both = open(COMMANDS);
    return { contents: both, checks: both };
  }

  const closeBatches = ({ contents, checks }: typeof batches) => Promise.all([contents.close(), checks.close()]);

  async function place(): Promise<GitDirectory> {
    const found = await findGitDirectory(repository);
    if (isClosed) throw closedReader(repository);
    const hasMoved = found.gitDir !== at.gitDir;
    at = found;
    if (hasMoved) {
      const old = batches;
      batches = openBatches();
      await closeBatches(old);
    }
    return found;
  }

  return {
    place,
    contents: (ids, visit, maxBytes = Number.POSITIVE_INFINITY) =>
      askTwice(repository, batches.contents, ids, visit, maxBytes),
    checks: (ids, visit) => askTwice(repository, batches.checks, ids, visit),
    run: ({ gitDir }, args) => runGit(git, gitDir, args, silenceMaxMs),
    async close() {
      isClosed = true;
      await closeBatches(batches);
    },
  };
}

/** Asks for what is missing once more, of a new process: a running one does not see alternates that were added since. */
async function askTwice(
  repository: string,
  batch: BatchProcess,
  ids: readonly ObjectId[],
  visit: Visit,
  maxBytes?: number,
): Promise<ObjectId[]> {
  let missing: ObjectId[] = [];
  const collect: Visit = (id, answer) => {
    if (answer.words.length === 3) visit(id, answer);
    else missing.push(id);
  };
  try {
    await batch.ask(ids, collect, maxBytes);
    if (missing.length === 0) return missing;
    await batch.restart();
    const again = missing;
    missing = [];
    await batch.ask(again, collect, maxBytes);
  } catch (error) {
    throw error instanceof CatFileFailure ? await toSlessError(repository, error) : error;
  }
  if (missing.length > 0) await findGitDirectory(repository);
  return missing;
}

async function toSlessError(repository: string, failure: CatFileFailure): Promise<SlessError> {
  await findGitDirectory(repository); // a repository that is gone says so itself
  const { kind, message, at } = failure;
  if (kind === "died" && isAboutObject(message)) return objectMissing(repository, at, failure);
  const isUnknownForm = kind === "died" && /repository (?:extension|version)|object format/i.test(message);
  const code = isUnknownForm ? "repository_unsupported" : "repository_unreachable";
  return new SlessError(code, { url: repository, cause: message }, { cause: failure });
}

/** Whether git gave up over an object, not over the machine or the repository as a whole. */
function isAboutObject(said: string): boolean {
  const others =
    /not a git repository|repository (?:extension|version)|object format|memory|open files|permission denied|resource/i;
  return /fatal: /.test(said) && !others.test(said);
}
