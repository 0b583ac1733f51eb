import { spawn } from "node:child_process";
import { expect, it } from "vitest";
import { processesBelow } from "./process-tree.ts";
import { watchChild } from "./watched-child.ts";
import { within } from "./within.ts";

const shell = (script: string) => spawn("sh", ["-c", script], { stdio: ["ignore", "pipe", "pipe"] });

it("a child is heard out, and its end is told however late one asks", async () => {
  const child = watchChild(shell("echo out; echo err >&2; exit 3"));
  await child.says("out\n");
  expect(await child.closed()).toEqual({ code: 3, signal: null });
  expect(await child.exited()).toEqual({ code: 3, signal: null });
  expect(child.output().split("\n").sort()).toEqual(["", "err", "out"]);
});

it("a child that ends before it says what is awaited is told with what it said", async () => {
  const child = watchChild(shell("echo other; exit 4"));
  await expect(child.says("this")).rejects.toThrow(/^-c .* ended with 4 before it said "this":\nother\n$/);
});

it("a program that is not there is told to all who wait", async () => {
  const child = watchChild(spawn("/no/such/program"));
  for (const wait of [child.says("this"), child.exited(), child.closed()]) await expect(wait).rejects.toThrow("ENOENT");
});

it("what hangs is told with the processes that do", async () => {
  const running = shell("exec sleep 301");
  const child = watchChild(running);
  const never = within("an end", new Promise(() => undefined), () => processesBelow(running.pid!), 0);
  await expect(never).rejects.toThrow(/an end: not within 0 ms\n.*sleep 301/);
  running.kill();
  expect(await child.exited()).toEqual({ code: null, signal: "SIGTERM" });
});
