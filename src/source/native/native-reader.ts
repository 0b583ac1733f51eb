import { SlessError } from "../../errors/index.ts";
import type { GitReader, ObjectId, Resolved, TreeEntry } from "../git-reader.ts";
import { parseTree } from "../parse-tree.ts";
import { checkIds, objectMissing, readAll } from "../read-all.ts";
import { isObjectId, shownRef } from "../ref-name.ts";
import { type GitObject, resolveExactly, resolveRef, throwNotFound } from "../resolve-ref.ts";
import type { Answer } from "./answer-parser.ts";
import { type NativeReaderOptions, openGitProcesses, type Visit } from "./git-processes.ts";

/** Trees and commits beyond it are refused: they are read whole. */
const METADATA_MAX_BYTES = 64 << 20;
const EXPRESSION_MAX_LENGTH = 1000;

/**
 * A GitReader over one long-lived `git cat-file` (two with a git before 2.36), started when first needed and started
 * anew when it dies. Close it, or it stays.
 *
 * @throws SlessError `repository_unreachable`, `repository_unsupported`
 */
export async function openNativeReader(options: NativeReaderOptions): Promise<GitReader> {
  const { repository } = options;
  const git = await openGitProcesses(options);
  const metadata = (ids: readonly ObjectId[], visit: Visit) => git.contents(ids, visit, METADATA_MAX_BYTES);

  async function readObject(id: ObjectId): Promise<GitObject | undefined> {
    let object: GitObject | undefined;
    await metadata([id], (_, { words, content }) => {
      object = { type: words[1]!, content: content! };
    });
    return object;
  }

  async function resolveExpression(expression: string): Promise<Resolved> {
    const place = await git.place();
    const exact = await resolveExactly(place, expression, readObject);
    if (exact !== undefined) return exact;
    // No revision begins with a dash, but every option does.
    const isAskable = /^[^-\0][^\0]*$/.test(expression) && expression.length <= EXPRESSION_MAX_LENGTH;
    const args = ["rev-parse", "--verify", "--quiet", `${expression}^{commit}`];
    const { stdout } = isAskable ? await git.run(place, args) : { stdout: "" };
    return isObjectId(stdout)
      ? resolveRef(place, { commit: stdout }, readObject)
      : throwNotFound(place, shownRef(expression));
  }

  async function mergeBase(a: ObjectId, b: ObjectId): Promise<ObjectId | undefined> {
    checkIds(repository, [a, b]);
    const { code, stdout, stderr } = await git.run(await git.place(), ["merge-base", a, b]);
    if (code === 0) return stdout;
    if (code === 1) return undefined;
    if (code === undefined) throw new SlessError("repository_unreachable", { url: repository, cause: stderr });
    throw objectMissing(repository, /[0-9a-f]{40,64}/.exec(stderr)?.[0] ?? a);
  }

  return {
    resolve: async (ref) => resolveRef(await git.place(), ref, readObject),
    resolveExpression,
    mergeBase,
    trees: (ids) => readAll(repository, ids, metadata, toTree),
    sizes: (ids) => readAll(repository, ids, git.checks, toSize),
    blobs: (ids) => readAll(repository, ids, (wanted, visit) => git.contents(wanted, visit), toContent),
    close: git.close,
  };
}

function toTree({ words, content }: Answer, id: ObjectId): readonly TreeEntry[] | undefined {
  return words[1] === "tree" && content ? parseTree(content, id.length / 2) : undefined;
}

function toSize({ words }: Answer): number | undefined {
  return words[1] === "blob" ? Number(words[2]) : undefined;
}

function toContent({ words, content }: Answer): Uint8Array | undefined {
  return words[1] === "blob" ? content : undefined;
}
