import * as fs from "node:fs";
import {
  fetch as fetchWithIsomorphic,
  type GitHttpRequest,
  type GitHttpResponse,
  type HttpClient,
} from "isomorphic-git";
import { SlessError } from "../../errors/index.ts";
import type { Fetcher, FetchRequest, GitHttp } from "../remote/index.ts";

/** Never asked for: the client knows where its repository is. */
const PLACEHOLDER = "http://repository.invalid";

/**
 * Fetches with isomorphic-git, which needs nothing installed and holds what is sent in memory. Repositories of sha1
 * only. It does not check that all of a commit came; who reads it finds that out.
 */
export function isomorphicFetcher(): Fetcher {
  return {
    async fetch({ mirror, http, commit, have, signal }: FetchRequest) {
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
        ...(have === undefined ? {} : { ref: `refs/sless/${have}` }),
      });
      signal.throwIfAborted();
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
