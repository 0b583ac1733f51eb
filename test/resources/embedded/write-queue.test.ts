import { describe, expect, it } from "vitest";
import { createWriteQueue } from "../../../src/resources/embedded/write-queue.ts";
import { groupsHaveTime } from "./groups-have-time.ts";

function openQueue(commit: (draft: number[]) => void = () => {}) {
  const groups: number[][] = [];
  const queue = createWriteQueue<number[]>(
    () => [],
    (draft) => {
      commit(draft);
      groups.push(draft);
    },
  );
  const write = (number: number) =>
    queue.enqueue((draft) => {
      draft.push(number);
      return number;
    });
  return { queue, groups, write };
}

describe("write queue", () => {
  it("writes that wait share one commit, in their order", async () => {
    groupsHaveTime();
    const { groups, write } = openQueue();
    expect(await Promise.all([write(1), write(2), write(3)])).toEqual([1, 2, 3]);
    expect(await write(4)).toBe(4);
    expect(groups).toEqual([[1, 2, 3], [4]]);
  });

  it("no write resolves before its commit", async () => {
    const order: string[] = [];
    const { write } = openQueue(() => void order.push("commit"));
    await write(1).then(() => order.push("resolved"));
    expect(order).toEqual(["commit", "resolved"]);
  });

  it("a write that throws rejects alone", async () => {
    groupsHaveTime();
    const { queue, groups, write } = openQueue();
    const outcomes = await Promise.allSettled([
      write(1),
      queue.enqueue(() => {
        throw new Error("invalid");
      }),
      write(2),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(groups).toEqual([[1, 2]]);
  });

  it("a commit that fails rejects its whole group and no later one", async () => {
    let broken = true;
    const { groups, write } = openQueue(() => {
      if (broken) throw new Error("disk full");
    });
    const outcomes = await Promise.allSettled([write(1), write(2)]);
    expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    broken = false;
    await write(3);
    expect(groups).toEqual([[3]]);
  });

  it("a long queue is worked off in groups between which others have their turn", async () => {
    const { queue, groups } = openQueue();
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 1);
    const busy = (draft: number[]) => {
      const until = performance.now() + 2;
      while (performance.now() < until) draft.push(1);
    };
    await Promise.all(Array.from({ length: 50 }, () => queue.enqueue(busy)));
    clearInterval(timer);
    expect(groups.length).toBeGreaterThan(2);
    expect(turns).toBeGreaterThan(2);
    await queue.drained();
  });

  it("is drained when the last write is settled", async () => {
    groupsHaveTime();
    const { queue, groups, write } = openQueue();
    const all = [write(1), write(2)];
    await queue.drained();
    expect(groups).toEqual([[1, 2]]);
    await Promise.all(all);
  });
});
