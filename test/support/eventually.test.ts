import { expect, it } from "vitest";
import { eventually } from "./eventually.ts";

it("what was seen instead is told", async () => {
  const never = eventually(
    "a light",
    () => "dark",
    (seen) => seen === "light",
    0,
  );
  await expect(never).rejects.toThrow('a light: not within 0 ms, last seen\n"dark"');
});

it("a look that does not end is told, with what was seen before", async () => {
  let looks = 0;
  const read = () => (++looks === 1 ? "dark" : new Promise<string>(() => undefined));
  const never = eventually("a light", read, (seen) => seen === "light", 60_000, 50);
  await expect(never).rejects.toThrow('a light: a look at it: not within 50 ms\nlast seen\n"dark"');
});
