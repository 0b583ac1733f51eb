import { describe, expect, it } from "vitest";
import type { Kind, ObjectOf } from "../../../src/apis/index.ts";
import { type Change, eventLog } from "../../../src/resources/embedded/event-log.ts";
import type { WatchEvent } from "../../../src/resources/index.ts";

function openLog(capacity: number) {
  let latest = 1;
  const log = eventLog({ capacity, latest: () => latest });
  const abort = new AbortController();
  return {
    log,
    abort,
    change(kind: Kind, count = 1) {
      const changes = Array.from({ length: count }, (): Change => {
        latest += 1;
        return { version: latest, kind, after: objectOf(kind, latest) };
      });
      log.append(changes);
    },
    watch: (kind: Kind, from: number) => log.watch(kind, { from, signal: abort.signal })[Symbol.asyncIterator](),
  };
}

function objectOf(kind: Kind, version: number): ObjectOf<Kind> {
  const metadata = { name: `n${version}`, namespace: "demo", resourceVersion: String(version) };
  return { kind, metadata } as ObjectOf<Kind>;
}

function textOf(event: IteratorResult<WatchEvent<Kind>>): string {
  if (event.done) return "end";
  return event.value.type === "BOOKMARK" ? `BOOKMARK ${event.value.resourceVersion}` : event.value.object.metadata.name;
}

async function read(events: AsyncIterator<WatchEvent<Kind>>, count: number): Promise<string[]> {
  const texts: string[] = [];
  for (let number = 0; number < count; number += 1) texts.push(textOf(await events.next()));
  return texts;
}

describe("event log", () => {
  it("a bookmark tells that a watch has caught up, also past changes of other kinds", async () => {
    const { watch, change } = openLog(10);
    change("Function", 2);
    change("Trigger", 3);
    const events = watch("Function", 1);
    expect(await read(events, 3)).toEqual(["n2", "n3", "BOOKMARK 6"]);
    const next = events.next();
    change("Function");
    expect(textOf(await next)).toBe("n7");
    expect(await read(events, 1)).toEqual(["BOOKMARK 7"]);
  });

  it("a watch that was overtaken must list again", async () => {
    const { watch, change } = openLog(10);
    const events = watch("Function", 1);
    expect(await read(events, 1)).toEqual(["BOOKMARK 1"]);
    change("Function", 30);
    await expect(events.next()).rejects.toMatchObject({ code: "conflict" });
    await expect(watch("Function", 2).next()).rejects.toMatchObject({ code: "conflict" });
    expect(await read(watch("Function", 21), 1)).toEqual(["n22"]);
  });

  it("one kind's bustle makes no watch of another kind too old", async () => {
    const { watch, change } = openLog(10);
    change("Trigger");
    change("Function", 100);
    expect(await read(watch("Trigger", 1), 2)).toEqual(["n2", "BOOKMARK 102"]);
  });

  it("a version from before the log or one that was never given out must list again", async () => {
    const { watch } = openLog(10);
    await expect(watch("Function", 0).next()).rejects.toMatchObject({ code: "conflict" });
    await expect(watch("Function", 2).next()).rejects.toMatchObject({ code: "conflict" });
  });

  it("a slow reader misses nothing of what it still can have", async () => {
    const { watch, change } = openLog(100);
    change("Function", 2);
    const events = watch("Function", 1);
    expect(await read(events, 1)).toEqual(["n2"]);
    change("Function", 2);
    expect(await read(events, 4)).toEqual(["n3", "n4", "n5", "BOOKMARK 5"]);
  });

  it("closing and aborting end watches that wait", async () => {
    const closed = openLog(10);
    const aborted = openLog(10);
    for (const { watch, end } of [
      { watch: closed.watch, end: closed.log.close },
      { watch: aborted.watch, end: () => aborted.abort.abort() },
    ]) {
      const events = watch("Function", 1);
      expect(await read(events, 1)).toEqual(["BOOKMARK 1"]);
      const next = events.next();
      end();
      expect(textOf(await next)).toBe("end");
    }
  });
});
