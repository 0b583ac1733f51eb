import type { ObjectId } from "../git-reader.ts";
import type { GitHttp } from "./git-http.ts";

export interface FetchRequest {
  /** Folder of the bare repository that is fetched into. Nobody else writes to it meanwhile. */
  readonly mirror: string;
  readonly http: GitHttp;
  readonly commit: ObjectId;
  /** Ends it at once, with everything that it started. */
  readonly signal: AbortSignal;
}

/** Fetches into mirrors, over `GitHttp` alone. */
export interface Fetcher {
  /**
   * Fetches one commit without its history. Resolves once it is in the mirror with all that it needs, as far as the
   * adapter checks that. What a failed one leaves behind is for others to clean up.
   *
   * @throws SlessError of `http`, `ref_not_found`, `repository_unsupported`, `storage_unavailable`; any other Error when what was sent,
   *   or the mirror, is not as it must be: its message tells it
   */
  fetch(request: FetchRequest): Promise<void>;
  /**
   * Packs what many fetches left into one, and drops what no ref has needed for ten minutes. Without it a mirror is
   * made anew now and then.
   */
  tidy?(mirror: string, signal: AbortSignal): Promise<void>;
}
