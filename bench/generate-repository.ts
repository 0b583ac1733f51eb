import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

const ISOLATED = { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null", GIT_TERMINAL_PROMPT: "0" };

/** The manifest of the n-th function; nothing runs. */
function functionManifest(name: string, n: number): string {
  return `apiVersion: sless.kube5s.ru/v1alpha1
kind: Function
metadata:
  name: ${name}
  labels:
    team: team-${n % 50}
spec:
  runtime: python3.11
  entrypoint: handler.handle
  memoryMB: ${64 + (n % 4) * 64}
  timeoutSec: 30
  replicas: 0
  env:
    GREETING: Hello
    NUMBER: "${n}"
`;
}

function triggerManifest(name: string): string {
  return `---
apiVersion: sless.kube5s.ru/v1alpha1
kind: Trigger
metadata:
  name: ${name}-http
spec:
  type: http
  functionRef: ${name}
`;
}

const handler = (n: number) =>
  `def handle(event, context):\n    return {"number": ${n}, "name": event.get("name", "world")}\n`;

export interface GeneratedOptions {
  /** A trigger of type http beside each function, in the same file. Default true. */
  readonly triggers?: boolean;
}

/**
 * Makes a bare repository of `count` function folders with three files each on branch `main`, by one `git fast-import`.
 */
export async function generateRepository(
  folder: string,
  count: number,
  { triggers = true }: GeneratedOptions = {},
): Promise<void> {
  await mkdir(folder, { recursive: true });
  await git(["init", "--quiet", "--bare", "--initial-branch=main", folder]);
  await fastImport(folder, allFunctions(count, triggers));
}

/** Commits a text that belongs to no function to `main`; the version makes it different. */
export async function changeNoFunction(folder: string, version: number): Promise<void> {
  const head = [commitHead(`Note ${version}`), "from refs/heads/main^0\n"];
  await fastImport(folder, [...head, `M 100644 inline notes/note.txt\n${data(`Note ${version}\n`)}`]);
}

/** Commits another handler of the first function to `main`; the version makes it different. */
export async function changeOneFunction(folder: string, version: number): Promise<void> {
  const from = "from refs/heads/main^0\n";
  await fastImport(folder, [
    commitHead(`Version ${version}`),
    from,
    fileOf(nameOf(0), "handler.py", handler(-version)),
  ]);
}

/** Commits other handlers of all `count` functions to `main`, in one commit. */
export async function changeEveryFunction(
  folder: string,
  count: number,
  handlerOf: (name: string) => string,
): Promise<void> {
  await fastImport(folder, everyHandler(count, handlerOf));
}

function* everyHandler(count: number, handlerOf: (name: string) => string): Generator<string> {
  yield commitHead("Every function");
  yield "from refs/heads/main^0\n";
  for (let n = 0; n < count; n += 1) yield fileOf(nameOf(n), "handler.py", handlerOf(nameOf(n)));
}

function* allFunctions(count: number, triggers: boolean): Generator<string> {
  yield commitHead("Functions");
  for (let n = 0; n < count; n += 1) {
    const name = nameOf(n);
    yield fileOf(name, "function.yaml", `${functionManifest(name, n)}${triggers ? triggerManifest(name) : ""}`);
    yield fileOf(name, "handler.py", handler(n));
    yield fileOf(name, "notes.txt", `Function ${n}\n`);
  }
}

const nameOf = (n: number) => `f${String(n).padStart(5, "0")}`;
const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`;
const commitHead = (message: string) =>
  `commit refs/heads/main\ncommitter Ada <ada@example.com> 1700000000 +0000\n${data(message)}`;
const fileOf = (name: string, file: string, text: string) => `M 100644 inline functions/${name}/${file}\n${data(text)}`;

async function fastImport(folder: string, lines: Iterable<string>): Promise<void> {
  const child = spawn("git", ["-C", folder, "fast-import", "--quiet"], {
    env: { PATH: process.env.PATH, HOME: folder, ...ISOLATED },
    stdio: ["pipe", "inherit", "inherit"],
  });
  const exited = once(child, "exit");
  await pipeline(Readable.from(lines), child.stdin);
  const [code] = await exited;
  if (code !== 0) throw new Error(`git fast-import ended with ${code}`);
}

/** Runs git apart from the user's configuration. */
export async function git(args: readonly string[], cwd?: string): Promise<void> {
  const who = {
    GIT_AUTHOR_NAME: "Ada",
    GIT_AUTHOR_EMAIL: "ada@example.com",
    GIT_COMMITTER_NAME: "Ada",
    GIT_COMMITTER_EMAIL: "ada@example.com",
  };
  const env = { PATH: process.env.PATH, HOME: "/nonexistent", ...ISOLATED, ...who };
  const child = spawn("git", args, { ...(cwd ? { cwd } : {}), env, stdio: ["ignore", "ignore", "inherit"] });
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`git ${args[0]} ended with ${code}`);
}
