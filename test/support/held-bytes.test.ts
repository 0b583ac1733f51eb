import { expect, it } from "vitest";
import { eventually } from "./eventually.ts";
import { heldBytes, watchHeldBytes } from "./held-bytes.ts";

const MIB = 1024 * 1024;

it("what is held counts while it is, and what waits to be collected does not", async () => {
  const grown = watchHeldBytes();
  let kept: Buffer[] = Array.from({ length: 30 }, () => Buffer.alloc(MIB, 1));
  const full = heldBytes();
  await eventually("a look", grown, (bytes) => bytes > 29 * MIB);
  expect(kept).toHaveLength(30);
  kept = [];
  expect(full - heldBytes()).toBeGreaterThan(29 * MIB);
});
