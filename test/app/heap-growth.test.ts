import { execFile } from "node:child_process";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const run = promisify(execFile);
const SUBJECT = pathToFileURL(`${import.meta.dirname}/../../src/app/heap-growth.ts`).href;

/** How often a process collects its old objects that keeps 200,000 objects and renews each of them twenty times. */
async function collections(prelude: string): Promise<number> {
  const script = `${prelude}
    import { PerformanceObserver, constants } from "node:perf_hooks";
    let major = 0;
    const count = (entries) => {
      for (const { detail } of entries) if (detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR) major += 1;
    };
    const observer = new PerformanceObserver((list) => count(list.getEntries()));
    observer.observe({ entryTypes: ["gc"] });
    const object = (n) => ({ n, text: "object " + n, of: [n] });
    const kept = Array.from({ length: 200_000 }, (_, n) => object(n));
    for (let n = 0; n < 4_000_000; n += 1) kept[n % kept.length] = object(n);
    setImmediate(() => setImmediate(() => {
      count(observer.takeRecords());
      console.log(major);
    }));`;
  const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", script], { env: {} });
  return Number(stdout);
}

it("a process that renews what it keeps collects it more often with the bound than without", async () => {
  const bounded = await collections(`import { boundHeapGrowth } from ${JSON.stringify(SUBJECT)}; boundHeapGrowth();`);
  const unbounded = await collections("");
  expect(bounded).toBeGreaterThan(unbounded);
});
