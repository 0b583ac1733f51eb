import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { type ControllerOptions, type Next, type ReconcileRun, startController } from "../../src/controller/index.ts";
import { SlessError } from "../../src/errors/index.ts";
import { eventually } from "../support/eventually.ts";
import { manualClock } from "../support/manual-clock.ts";

const DONE: Next = { kind: "done" };

function start(reconcile: ControllerOptions["reconcile"], options: Partial<ControllerOptions> = {}) {
  const clock = manualClock();
  const backOff = { baseMs: 200, jitter: () => 0 };
  const controller = startController({ name: "test", reconcile, concurrency: 2, clock, backOff, ...options });
  onTestFinished(async () => {
    const stopped = controller.stop(0);
    clock.advance(1);
    await stopped;
  });
  return { clock, controller };
}

function recordIn(ran: string[]): ControllerOptions["reconcile"] {
  return async (key) => {
    ran.push(key);
    return DONE;
  };
}

describe("controller", () => {
  it("runs every enqueued key, as many at a time as it may", async () => {
    const ended: string[] = [];
    let most = 0;
    let running = 0;
    const { controller } = start(
      async (key) => {
        most = Math.max(most, ++running);
        await Promise.resolve();
        running -= 1;
        ended.push(key);
        return DONE;
      },
      { concurrency: 3 },
    );
    const keys = Array.from({ length: 20 }, (_, number) => `demo/f${number}`);
    for (const key of keys) controller.enqueue(key);
    await controller.idle();
    expect(ended.sort()).toEqual(keys.sort());
    expect(most).toBe(3);
  });

  it.each([
    ["conflict", "debug"],
    ["not_found", "debug"],
    ["storage_unavailable", "warn"],
  ] as const)("a run that ends with %s is logged as %s", async (code, level) => {
    const logged: string[] = [];
    const log = {
      debug: () => logged.push("debug"),
      warn: () => logged.push("warn"),
      error: () => logged.push("error"),
    };
    const { controller } = start(
      async () => {
        throw new SlessError(code, { what: "Function/demo/f", cause: "x" });
      },
      { log },
    );
    controller.enqueue("demo/f");
    await controller.idle();
    expect(logged).toEqual([level]);
  });

  it("a key that throws backs off alone, and starts anew after a success", async () => {
    const runs: ReconcileRun[] = [];
    let broken = true;
    const { clock, controller } = start(
      async (key) => {
        if (key === "demo/bad" && broken) throw new Error("boom");
        return DONE;
      },
      { onRun: (run) => void runs.push(run) },
    );
    controller.enqueue("demo/bad");
    controller.enqueue("demo/good");
    await controller.idle();
    expect(clock.timers()).toEqual([100]);
    clock.advance(100);
    await controller.idle();
    expect(clock.timers()).toEqual([200]);
    broken = false;
    clock.advance(200);
    await controller.idle();
    expect(clock.timers()).toEqual([]);
    broken = true;
    controller.enqueue("demo/bad");
    await controller.idle();
    expect(clock.timers()).toEqual([100]);
    expect(runs.map(({ key, next, error }) => `${key} ${next} ${error ?? ""}`.trim())).toEqual([
      "demo/bad backOff Error: boom",
      "demo/good done",
      "demo/bad backOff Error: boom",
      "demo/bad done",
      "demo/bad backOff Error: boom",
    ]);
  });

  it.each<[string, () => Promise<Next>, number[]]>([
    ["a key that is done does not come again", async () => DONE, []],
    ["a key comes again after the time that it asks for", async () => ({ kind: "after", ms: 5000 }), [5000]],
    ["a key may ask for its back-off", async () => ({ kind: "backOff" }), [100]],
    ["an error that stalls is not tried again", () => Promise.reject(new SlessError("runtime_unknown")), []],
    ["an error that waits is looked at later", () => Promise.reject(new SlessError("deletions_held")), [60_000]],
    [
      "a reconcile that throws before it awaits backs off",
      () => {
        throw new Error("boom");
      },
      [100],
    ],
  ])("%s", async (_name, reconcile, timers) => {
    const { clock, controller } = start(reconcile);
    controller.enqueue("demo/hello");
    await controller.idle();
    expect(clock.timers()).toEqual(timers);
  });

  it("a failing hook stops no worker", async () => {
    const ran: string[] = [];
    const { controller } = start(recordIn(ran), {
      concurrency: 1,
      onRun: () => {
        throw new Error("boom");
      },
    });
    controller.enqueue("demo/a");
    controller.enqueue("demo/b");
    await controller.idle();
    expect(ran).toEqual(["demo/a", "demo/b"]);
  });

  it("a delayed key runs when its time has come", async () => {
    const ran: string[] = [];
    const { clock, controller } = start(recordIn(ran));
    controller.enqueueAfter("demo/later", 1000);
    clock.advance(999);
    await controller.idle();
    expect(ran).toEqual([]);
    clock.advance(1);
    await controller.idle();
    expect(ran).toEqual(["demo/later"]);
  });

  it("stopping lets what runs end and starts nothing else", async () => {
    const gate = Promise.withResolvers<void>();
    const ran: string[] = [];
    const { controller } = start(
      async (key) => {
        ran.push(key);
        await gate.promise;
        return DONE;
      },
      { concurrency: 1 },
    );
    controller.enqueue("demo/a");
    controller.enqueue("demo/b");
    await eventually(
      "a runs",
      () => ran,
      ({ length }) => length === 1,
    );
    const stopped = controller.stop();
    controller.enqueue("demo/c");
    gate.resolve();
    await stopped;
    expect(ran).toEqual(["demo/a"]);
  });

  it("stopping aborts what does not end by itself, and waits for its end", async () => {
    let ended = false;
    const { clock, controller } = start(async (_key, signal) => {
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      ended = true;
      return DONE;
    });
    controller.enqueue("demo/a");
    await eventually("a runs", controller.sizes, ({ running }) => running === 1);
    const stopped = controller.stop(10_000);
    clock.advance(8000);
    await stopped;
    expect(ended).toBe(true);
  });

  it("stopping gives up on what ignores its signal when the time is over", async () => {
    const gate = Promise.withResolvers<Next>();
    const { clock, controller } = start(() => gate.promise);
    controller.enqueue("demo/a");
    await eventually("a runs", controller.sizes, ({ running }) => running === 1);
    const stopped = controller.stop(1000);
    clock.advance(800);
    await eventually("the signal is aborted", clock.timers, ([next]) => next === 200);
    clock.advance(200);
    await stopped;
    expect(controller.sizes().running).toBe(1);
    gate.resolve(DONE);
  });

  it("under any interleaving no key runs twice at a time and each last change is seen", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 12 }),
        async (scheduler, changes) => {
          const desired = new Map<string, number>();
          const actual = new Map<string, number>();
          const running = new Set<string>();
          const { controller } = start(async (key) => {
            expect(running.has(key)).toBe(false);
            running.add(key);
            const read = desired.get(key)!;
            await scheduler.schedule(Promise.resolve(), `reconcile ${key}`);
            actual.set(key, read);
            running.delete(key);
            return DONE;
          });
          for (const [number, key] of changes.entries()) {
            void scheduler.schedule(Promise.resolve(), `change ${key}`).then(() => {
              desired.set(key, number);
              controller.enqueue(key);
            });
          }
          let idle = false;
          while (!idle || scheduler.count() > 0) {
            if (scheduler.count() > 0) await scheduler.waitOne();
            idle = controller.sizes().ready + controller.sizes().running === 0;
            await new Promise((resolve) => setImmediate(resolve));
          }
          expect(actual).toEqual(desired);
        },
      ),
      { numRuns: 100 },
    );
  });
});
