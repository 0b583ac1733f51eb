import { expect, it } from "vitest";
import { SlessError } from "../../../src/errors/index.ts";
import type { GitHttp, GitHttpRequest } from "../../../src/source/remote/git-http.ts";
import { listRefs } from "../../../src/source/remote/list-refs.ts";

/** A server that goes on with one line for ever, over a connection that is as bounded as the real one. */
function endless(line: string): GitHttp {
  async function* body({ maxBytes = 1 << 20 }: GitHttpRequest): AsyncGenerator<Uint8Array> {
    const chunk = Buffer.from(line.repeat(20_000));
    for (let bytes = chunk.length; bytes <= maxBytes; bytes += chunk.length) yield chunk;
    throw new SlessError("repository_too_large", { limit: `${maxBytes >> 20} MiB` });
  }
  return {
    discover: async (request) => body(request),
    uploadPack: async (request) => body(request),
    close: async () => {},
  };
}

it.each([
  [
    "a list without an end",
    `0046${"a".repeat(40)} refs/heads/main-and-more\n`,
    "its list of refs is longer than 64 MiB",
  ],
  ["what is no list", "garbage ", "it is not what a Git server says"],
])("%s is told as such, not as a large repository", async (_, line, cause) => {
  const options = {
    prefix: "refs/",
    url: "https://example.com/a.git",
    access: { authorization: undefined, ca: undefined, secrets: [], identity: "" },
    signal: AbortSignal.timeout(120_000),
  };
  await expect(listRefs(endless(line), options)).rejects.toMatchObject({
    code: "repository_unreachable",
    details: { cause },
  });
});
