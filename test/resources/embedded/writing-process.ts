import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { openEmbeddedStore } from "../../../src/resources/embedded/index.ts";
import { functionIntent } from "../../support/function-intent.ts";

/** How many objects are written at the same time; each keeps the last number that was written to it. */
const OBJECTS = 12;

/**
 * Run as a process: `<file>`. Writes growing numbers to its objects for ever and prints `<name> <number>` after each
 * write that the store acknowledged. When a write fails it prints `failed <code>` and goes on after a line on stdin.
 */
async function writeForEver(file: string): Promise<void> {
  const store = await openEmbeddedStore(file);
  const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  const present = await store.list("Function");
  let number = Math.max(0, ...present.items.map(({ spec }) => Number(spec.env?.NUMBER ?? 0)));
  for (;;) {
    number += 1;
    try {
      await Promise.all(Array.from({ length: OBJECTS }, (_, object) => writeNumber(`f${object}`, number)));
    } catch (error) {
      const last = await store.get("Function", { namespace: "demo", name: "f0" });
      say(`failed ${(error as { code: string }).code} ${last?.spec.env?.NUMBER}`);
      await lines.next();
    }
  }

  async function writeNumber(name: string, value: number): Promise<void> {
    // Fields that come and go, and a text of changing length, so that rows and owners change their size.
    const env = { NUMBER: String(value), TEXT: "x".repeat(value % 3000), ...(value % 2 === 0 && { EVEN: "yes" }) };
    const metadata = { annotations: { "example.com/number": String(value) } };
    await store.apply(functionIntent("demo", name, { env, metadata }), { owner: "sync" });
    say(`${name} ${value}`);
  }
}

function say(line: string): void {
  writeSync(1, `${line}\n`);
}

await writeForEver(process.argv[2]!);
