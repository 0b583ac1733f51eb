import { readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type LogFile, logFile } from "../../src/processes/index.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

async function textOf(log: LogFile, options: { tailLines?: number } = {}): Promise<string> {
  let text = "";
  for await (const chunk of log.read({ follow: false, ...options })) text += Buffer.from(chunk).toString();
  return text;
}

async function openLog(maxBytes = 1000, whenFull: "rotate" | "stop" = "rotate") {
  const path = join(await temporaryFolder(), "ns", "Function-hello.log");
  return { path, log: logFile(path, { maxBytes, whenFull }) };
}

const line = (n: number) => Buffer.from(`line ${n}\n`);

describe("a log file", () => {
  it("is empty before anything is written, and makes no file", async () => {
    const { log, path } = await openLog();
    expect(await textOf(log)).toBe("");
    await expect(stat(path)).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("keeps two files of bounded size, oldest lines go first", async () => {
    const { log, path } = await openLog(100);
    for (let n = 0; n < 200; n++) await log.append(line(n));
    const text = await textOf(log);
    expect(text.endsWith("line 198\nline 199\n")).toBe(true);
    expect(text).not.toContain("line 0\n");
    expect(await readdir(join(path, ".."))).toEqual(["Function-hello.log", "Function-hello.log.1"]);
    for (const file of [path, `${path}.1`]) expect((await stat(file)).size).toBeLessThanOrEqual(100);
  });

  it("stops at its bound when it shall keep the beginning", async () => {
    const { log, path } = await openLog(100, "stop");
    for (let n = 0; n < 200; n++) await log.append(line(n));
    expect(await textOf(log)).toMatch(/^line 0\nline 1\n/);
    expect((await stat(path)).size).toBeLessThanOrEqual(100);
  });

  it("gives the last lines, also from before a rotation", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(40), fc.nat(20), async (written, wanted) => {
        const { log } = await openLog(300);
        for (let n = 0; n < written; n++) await log.append(line(n));
        const all = (await textOf(log)).split("\n").slice(0, -1);
        const expected = wanted === 0 ? [] : all.slice(-wanted);
        expect((await textOf(log, { tailLines: wanted })).split("\n").slice(0, -1)).toEqual(expected);
      }),
      { numRuns: 25 },
    );
  });

  it("a follower sees every line once, over rotations, until the log is finished", async () => {
    const { log } = await openLog(2_000);
    const following = (async () => {
      let text = "";
      for await (const chunk of log.read({ follow: true })) text += Buffer.from(chunk).toString();
      return text;
    })();
    const lines = Array.from({ length: 1_000 }, (_, n) => `line ${n}\n`);
    for (const text of lines) {
      await log.append(Buffer.from(text));
      // The follower is no slower than the writer here: it may lose lines only when it is two files behind.
      await textOf(log, { tailLines: 1 });
    }
    await log.finish();
    expect(await following).toBe(lines.join(""));
  });

  it("a follower of nothing waits for the first line, and ends when its signal aborts", async () => {
    const { log } = await openLog();
    const stop = new AbortController();
    const seen: string[] = [];
    const following = (async () => {
      for await (const chunk of log.read({ follow: true, signal: stop.signal })) {
        seen.push(Buffer.from(chunk).toString());
        stop.abort();
      }
    })();
    await log.append(line(1));
    await following;
    expect(seen).toEqual(["line 1\n"]);
  });

  it("takes nothing more once it is finished or cleared", async () => {
    const { log, path } = await openLog();
    await log.append(line(1));
    await log.finish();
    await log.clear();
    await log.append(line(2));
    expect(await textOf(log)).toBe("");
    await expect(stat(path)).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("goes on after its folder could not be written", async () => {
    const file = join(await temporaryFolder(), "file");
    await writeFile(file, "in the way");
    const log = logFile(join(file, "hello.log"), { maxBytes: 100, whenFull: "rotate" });
    await log.append(line(1));
    expect(await textOf(log)).toBe("");
  });
});
