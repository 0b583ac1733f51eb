import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { runBackend } from "../support/git-http-server.ts";
import { runGit } from "../support/git-repository.ts";
import { bodyOf } from "../support/http-server.ts";

/** A repository that pods fetch over HTTP. */
export interface GitServer extends AsyncDisposable {
  readonly url: string;
  /** A checkout that pushes there. */
  readonly checkout: string;
  /** Pushes what was committed in the checkout. */
  pushCommits(): Promise<void>;
  /** Writes files (null deletes), commits and pushes. */
  push(message: string, files: Readonly<Record<string, string | null>>): Promise<void>;
}

/** @param host address of this machine that pods reach */
export async function startGitServer(host: string): Promise<GitServer> {
  const folder = await mkdtemp(join(tmpdir(), "sless-e2e-git-"));
  const bare = join(folder, "functions.git");
  const work = join(folder, "work");
  await runGit(folder, "init", "--quiet", "--bare", "--initial-branch=main", bare);
  await runGit(folder, "clone", "--quiet", bare, work);
  const server = createServer(async (request, response) => {
    const { status, headers, body } = await runBackend(bare, request, await bodyOf(request), false);
    response.writeHead(status, headers).end(body);
  });
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(0, host, resolve));
  const pushCommits = async () => void (await runGit(work, "push", "--quiet", "origin", "HEAD:main"));
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}/functions.git`,
    checkout: work,
    pushCommits,
    async push(message, files) {
      for (const [path, text] of Object.entries(files)) {
        const file = join(work, path);
        await mkdir(dirname(file), { recursive: true });
        await (text === null ? rm(file) : writeFile(file, text));
      }
      await runGit(work, "add", "--all");
      await runGit(work, "commit", "--quiet", "--message", message);
      await pushCommits();
    },
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
