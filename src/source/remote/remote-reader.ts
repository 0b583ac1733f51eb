import { isSlessError, messageOf, SlessError } from "../../errors/index.ts";
import type { GitReader, ObjectId, RefRequest, Resolved } from "../git-reader.ts";
import { closedReader, objectMissing } from "../read-all.ts";
import { type Access, shownCause } from "./credentials.ts";
import { findCommit } from "./find-commit.ts";
import { type GitHttp, openGitHttp } from "./git-http.ts";
import { listRefs } from "./list-refs.ts";
import type { Mirror } from "./mirror.ts";
import type { NetworkPolicy } from "./network-policy.ts";
import { shownUrl } from "./repository-url.ts";

export interface RemoteReaderOptions {
  /** As `parseRepositoryUrl` answers it. */
  readonly url: URL;
  /** What the secret says now. */
  readonly readAccess: () => Promise<Access>;
  /** The mirror for an access; it is in use until `release`. */
  readonly borrow: (access: Access) => Borrowed;
  readonly openReader: (folder: string) => Promise<GitReader>;
  readonly policy: NetworkPolicy;
  readonly maxBytes?: number | undefined;
}

export interface Borrowed {
  readonly mirror: Mirror;
  release(): Promise<void>;
}

/** What belongs to one credential. */
interface Reached {
  readonly access: Access;
  readonly http: GitHttp;
  readonly borrowed: Borrowed;
  local: GitReader | undefined;
}

/**
 * A GitReader of a repository behind http(s). `resolve` asks the server and fetches what is new into a mirror, all else
 * reads the mirror; `close` ends a fetch at once. An object that the mirror lacks makes it fetched anew.
 */
export function openRemoteReader(options: RemoteReaderOptions): GitReader {
  const url = shownUrl(options.url.href);
  const closing = new AbortController();
  const user = {};
  let reached: Reached | undefined;
  let working: Promise<unknown> = Promise.resolve();

  /** Errors of the mirror name its folder, which is nobody's business. */
  function told(error: unknown): unknown {
    if (closing.signal.aborted) return closedReader(url);
    if (!isSlessError(error)) {
      const cause = shownCause(messageOf(error), reached?.access ?? { secrets: [] });
      return new SlessError("repository_unreachable", { url, cause }, { cause: error });
    }
    if (error.code === "object_missing") reached?.borrowed.mirror.distrust();
    return "url" in error.details ? new SlessError(error.code, { ...error.details, url }, { cause: error }) : error;
  }

  async function reading<T>(read: (local: GitReader) => Promise<T>): Promise<T> {
    try {
      if (closing.signal.aborted || reached?.local === undefined) throw closedReader(url);
      return await read(reached.local);
    } catch (error) {
      throw told(error);
    }
  }

  async function leave(): Promise<void> {
    const left = reached;
    reached = undefined;
    await Promise.all([left?.local?.close(), left?.http.close()]);
    left?.borrowed.mirror.leave(user);
    await left?.borrowed.release();
  }

  async function reach(): Promise<Reached> {
    const access = await options.readAccess();
    if (reached?.access.identity !== access.identity) await leave();
    const { policy, maxBytes } = options;
    reached ??= {
      access,
      http: openGitHttp({ url: options.url, access, policy, ...(maxBytes === undefined ? {} : { maxBytes }) }),
      borrowed: options.borrow(access),
      local: undefined,
    };
    return reached;
  }

  /** The mirror has it, or is not to be trusted. */
  async function lookAt(at: Reached, commit: ObjectId): Promise<Resolved> {
    const { mirror } = at.borrowed;
    try {
      at.local ??= await options.openReader(mirror.folder);
      const found = await at.local.resolve({ commit });
      await at.local.trees([found.tree]);
      return found;
    } catch (error) {
      mirror.distrust();
      throw isSlessError(error, "ref_not_found") ? objectMissing(url, commit, error) : error;
    }
  }

  async function resolve(request: RefRequest): Promise<Resolved> {
    const { signal } = closing;
    const at = await reach();
    const { access, http } = at;
    const { id, name } = await findCommit(request, url, (prefix) => listRefs(http, { prefix, url, access, signal }));
    await at.borrowed.mirror.ensure(user, { http, commit: id, signal });
    const found = await lookAt(at, id);
    return name === undefined ? found : { ...found, name, revision: `${name}@${found.revision}` };
  }

  return {
    asksServer: true,
    resolve(request) {
      const resolving = working.then(async () => {
        try {
          closing.signal.throwIfAborted();
          return await resolve(request);
        } catch (error) {
          throw told(error);
        }
      });
      working = resolving.catch(() => {});
      return resolving;
    },
    resolveExpression: (expression) => reading((local) => local.resolveExpression(expression)),
    mergeBase: (a, b) => reading((local) => local.mergeBase(a, b)),
    trees: (ids) => reading((local) => local.trees(ids)),
    sizes: (ids) => reading((local) => local.sizes(ids)),
    blobs: (ids) => reading((local) => local.blobs(ids)),
    async close() {
      closing.abort();
      await working;
      await leave();
    },
  };
}
