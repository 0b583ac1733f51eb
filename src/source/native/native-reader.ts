import { SlessError } from "../../errors/index.ts";
import { findGitDirectory, type GitDirectory } from "../git-directory.ts";
import type { GitReader, ObjectId, Resolved, TreeEntry } from "../git-reader.ts";
import { parseTree } from "../parse-tree.ts";
import { isObjectId, shownRef } from "../ref-name.ts";
import { type GitObject, resolveExactly, resolveRef, throwNotFound } from "../resolve-ref.ts";
import type { Answer } from "./answer-parser.ts";
import { BatchFailure, type BatchProcess, openBatchProcess } from "./batch-process.ts";
import { runGit } from "./run-git.ts";

export interface NativeReaderOptions {
  /** Folder of the repository, bare or not, a linked worktree too. */
  readonly repository: string;
  /** Absolute path of git, as `findGit` answers it. */
  readonly git: string;
  /** How long git may owe an answer. Default 30,000 ms. */
  readonly silenceMaxMs?: number;
}

/** Trees and commits beyond it are refused: they are read whole. */
const METADATA_MAX_BYTES = 64 << 20;
const EXPRESSION_MAX_LENGTH = 1000;

/**
 * A GitReader over `git cat-file`: one long-lived process for contents and one for sizes, started when first needed
 * and started anew when they die. Close it, or they stay.
 *
 * @throws SlessError `repository_unreachable`, `repository_unsupported`
 */
export async function openNativeReader(options: NativeReaderOptions): Promise<GitReader> {
  const { repository, git, silenceMaxMs = 30_000 } = options;
  let place = await findGitDirectory(repository);
  let contents = openBatch("--batch");
  let checks = openBatch("--batch-check");
  let isClosed = false;

  function openBatch(mode: "--batch" | "--batch-check"): BatchProcess {
    return openBatchProcess({ git, gitDir: place.gitDir, mode, silenceMaxMs });
  }

  /** Looks again where the repository is: it may have been removed, or made anew in another form. */
  async function currentPlace(): Promise<GitDirectory> {
    const found = await findGitDirectory(repository);
    if (isClosed) throw new SlessError("repository_unreachable", { url: repository, cause: "the reader is closed" });
    if (found.gitDir !== place.gitDir) {
      const old = [contents, checks];
      place = found;
      contents = openBatch("--batch");
      checks = openBatch("--batch-check");
      await Promise.all(old.map((batch) => batch.close()));
    }
    return place;
  }

  /**
   * Gives every object's answer to `visit`, and answers the ids that are missing. What is missing is asked for once
   * more of a new process: a running one does not see alternates that were added since.
   */
  async function askAll(
    batch: BatchProcess,
    ids: readonly ObjectId[],
    visit: (id: ObjectId, answer: Answer) => void,
    maxBytes?: number,
  ): Promise<ObjectId[]> {
    const faulty = ids.find((id) => !isObjectId(id));
    if (faulty !== undefined) throw objectMissing(shownRef(faulty));
    let missing: ObjectId[] = [];
    const collect = (id: ObjectId, answer: Answer) => {
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
      throw await toSlessError(error);
    }
    if (missing.length > 0) await findGitDirectory(repository);
    return missing;
  }

  async function toSlessError(error: unknown): Promise<unknown> {
    if (!(error instanceof BatchFailure)) return error;
    await findGitDirectory(repository); // a repository that is gone says so itself
    if (error.kind === "died" && /repository (?:extension|version)|object format/i.test(error.message)) {
      return new SlessError("repository_unsupported", { url: repository, cause: error.message }, { cause: error });
    }
    if (error.kind === "died" && isAboutObject(error.message)) return objectMissing(error.at, error);
    return new SlessError("repository_unreachable", { url: repository, cause: error.message }, { cause: error });
  }

  function objectMissing(id: string, cause?: unknown): SlessError {
    return new SlessError("object_missing", { url: repository, id }, { cause });
  }

  async function readObject(id: ObjectId): Promise<GitObject | undefined> {
    let object: GitObject | undefined;
    const keep = (_: ObjectId, { words, content }: Answer) => {
      object = { type: words[1]!, content: content! };
    };
    await askAll(contents, [id], keep, METADATA_MAX_BYTES);
    return object;
  }

  /** Reads all ids as one type, or throws for the first that is missing or something else. */
  async function readAll<T>(
    batch: BatchProcess,
    ids: readonly ObjectId[],
    read: (answer: Answer, id: ObjectId) => T | undefined,
    maxBytes?: number,
  ): Promise<Map<ObjectId, T>> {
    const found = new Map<ObjectId, T>();
    let faulty: ObjectId | undefined;
    const unique = [...new Set(ids)];
    const missing = await askAll(
      batch,
      unique,
      (id, answer) => {
        const value = read(answer, id);
        if (value === undefined) faulty ??= id;
        else found.set(id, value);
      },
      maxBytes,
    );
    const bad = missing[0] ?? faulty;
    if (bad !== undefined) throw objectMissing(bad);
    return found;
  }

  async function resolveExpression(expression: string): Promise<Resolved> {
    const at = await currentPlace();
    const exact = await resolveExactly(at, expression, readObject);
    if (exact !== undefined) return exact;
    // No revision begins with a dash, but every option does.
    const isAskable = /^[^-\0][^\0]*$/.test(expression) && expression.length <= EXPRESSION_MAX_LENGTH;
    const args = ["rev-parse", "--verify", "--quiet", `${expression}^{commit}`];
    const { stdout } = isAskable ? await runGit(git, at.gitDir, args, silenceMaxMs) : { stdout: "" };
    return isObjectId(stdout)
      ? resolveRef(at, { commit: stdout }, readObject)
      : throwNotFound(at, shownRef(expression));
  }

  async function mergeBase(a: ObjectId, b: ObjectId): Promise<ObjectId | undefined> {
    for (const id of [a, b]) if (!isObjectId(id)) throw objectMissing(shownRef(id));
    const at = await currentPlace();
    const { code, stdout, stderr } = await runGit(git, at.gitDir, ["merge-base", a, b], silenceMaxMs);
    if (code === 0) return stdout;
    if (code === 1) return undefined;
    if (code === undefined) throw new SlessError("repository_unreachable", { url: repository, cause: stderr });
    throw objectMissing(/[0-9a-f]{40,64}/.exec(stderr)?.[0] ?? a);
  }

  return {
    resolve: async (ref) => resolveRef(await currentPlace(), ref, readObject),
    resolveExpression,
    mergeBase,
    trees: (ids) => readAll(contents, ids, toTree, METADATA_MAX_BYTES),
    sizes: (ids) => readAll(checks, ids, ({ words }) => (words[1] === "blob" ? Number(words[2]) : undefined)),
    blobs: (ids) => readAll(contents, ids, ({ words, content }) => (words[1] === "blob" ? content : undefined)),
    async close() {
      isClosed = true;
      await Promise.all([contents.close(), checks.close()]);
    },
  };
}

/** Whether git gave up over an object, not over the machine or the repository as a whole. */
function isAboutObject(said: string): boolean {
  return /fatal: /.test(said) && !/not a git repository|memory|open files|permission denied|resource/i.test(said);
}

function toTree({ words, content }: Answer, id: ObjectId): readonly TreeEntry[] | undefined {
  return words[1] === "tree" && content ? parseTree(content, id.length / 2) : undefined;
}
