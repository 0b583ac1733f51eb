import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { buildServer } from "../servers/build.ts";

/** A kubectl command against the cluster of the kubeconfig; what it printed. @throws Error with what it said */
export async function kubectl(kubeconfig: string, args: readonly string[], stdin = ""): Promise<string> {
  const program = await buildServer("kubectl");
  const running = promisify(execFile)(program, ["--kubeconfig", kubeconfig, ...args], {
    env: { PATH: process.env.PATH, HOME: "/nonexistent" },
    maxBuffer: 64 * 1024 * 1024,
  });
  running.child.stdin?.end(stdin);
  return (await running).stdout;
}

/** Objects as a List that kubectl takes from its input. */
export function asList(items: readonly object[]): string {
  return JSON.stringify({ apiVersion: "v1", kind: "List", items });
}
