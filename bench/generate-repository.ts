import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import { finished } from "node:stream/promises";

const ISOLATED = { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null", GIT_TERMINAL_PROMPT: "0" };

/** The manifest of the n-th function: two documents, nothing runs. */
function manifest(name: string, n: number): string {
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
---
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

/**
 * Makes a bare repository of `count` function folders with three files each on branch `main`, by one `git fast-import`.
 */
export async function generateRepository(folder: string, count: number): Promise<void> {
  await mkdir(folder, { recursive: true });
  await git(["init", "--quiet", "--bare", "--initial-branch=main", folder]);
  const child = spawn("git", ["-C", folder, "fast-import", "--quiet"], {
    env: { PATH: process.env.PATH, HOME: folder, ...ISOLATED },
    stdio: ["pipe", "inherit", "inherit"],
  });
  const input = child.stdin;
  const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`;
  input.write(`commit refs/heads/main\ncommitter Ada <ada@example.com> 1700000000 +0000\n${data("Functions")}`);
  for (let n = 0; n < count; n += 1) {
    const name = `f${String(n).padStart(5, "0")}`;
    const files = { "function.yaml": manifest(name, n), "handler.py": handler(n), "notes.txt": `Function ${n}\n` };
    const lines = Object.entries(files).map(
      ([file, text]) => `M 100644 inline functions/${name}/${file}\n${data(text)}`,
    );
    if (!input.write(lines.join(""))) await once(input, "drain");
  }
  input.end("done\n");
  await finished(input);
  const [code] = await once(child, "exit");
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
