import { onTestFinished, vi } from "vitest";

/** Until the test ends no time passes, for a group of writes ends after some: on a busy machine one write may take that. */
export function groupsHaveTime(): void {
  const still = vi.spyOn(performance, "now").mockReturnValue(0);
  onTestFinished(() => still.mockRestore());
}
