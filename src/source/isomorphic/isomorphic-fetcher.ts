import * as fs from "node:fs";
import {
  fetch as fetchWithIsomorphic,
  type GitHttpRequest,
  type GitHttpResponse,
  type HttpClient,
  readObject,
} from "isomorphic-git";
import { SlessError } from "../../errors/index.ts";
import type { Fetcher, FetchRequest, GitHttp } from "../remote/index.ts";

/** Never asked for: the client knows where its repository is. */
const PLACEHOLDER = "http://repository.invalid";

/**
 * Fetches with isomorphic-git, which needs nothing installed. It sends for all files of a commit every time, holds them
 * in memory, and does not check that all of them came; who reads it finds that out. Repositories of sha1 only.
 */
export function isomorphicFetcher(): Fetcher {
  return {
    async fetch({ mirror, http, commit, signal }: FetchRequest) {
      if (commit.length === 64) {
        throw new SlessError("repository_unsupported", { url: "it", cause: "its objects are named by sha256" });
      }
      await fetchWithIsomorphic({
        fs,
        http: clientOver(http, signal),
        gitdir: mirror,
        url: PLACEHOLDER,
        remote: "origin",
        remoteRef: commit,
        singleBranch: true,
        tags: false,
        depth: 1,
      });
      signal.throwIfAborted();
      await readObject({ fs, gitdir: mirror, oid: commit, format: "deflated" }).catch((error: unknown) => {
        throw new Error("the server did not send the commit that it named", { cause: error });
      });
    },
  };
}

function clientOver(http: GitHttp, signal: AbortSignal): HttpClient {
  async function request({ url, method = "GET", body }: GitHttpRequest): Promise<GitHttpResponse> {
    const isDiscovery = method === "GET";
    const answer = isDiscovery
      ? await http.discover({ signal })
      : await http.uploadPack({ signal, body: await bytesOf(body) });
    const kind = isDiscovery ? "advertisement" : "result";
    return {
      url,
      method,
      statusCode: 200,
      statusMessage: "OK",
      headers: { "content-type": `application/x-git-upload-pack-${kind}` },
      body: answer[Symbol.asyncIterator]() as AsyncIterableIterator<Uint8Array>,
    };
  }
  return { request };
}

async function bytesOf(body: GitHttpRequest["body"]): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body ?? []) chunks.push(chunk);
  return Buffer.concat(chunks);
}
