import { execFileSync } from "node:child_process";
import { onTestFinished } from "vitest";

/** Mounts a disk of 1 MB at a folder until the test ends; false where that is not allowed. */
export function mountSmallDisk(folder: string): boolean {
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], { stdio: "ignore" });
  } catch {
    return false;
  }
  onTestFinished(() => {
    execFileSync("umount", ["--lazy", folder], { stdio: "ignore" });
  });
  return true;
}
