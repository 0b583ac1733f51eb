import { execFileSync } from "node:child_process";
import { open, rm } from "node:fs/promises";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** Mounts a small disk at a folder until the test ends; false where that is not allowed. */
export function mountSmallDisk(folder: string, megabytes = 1): boolean {
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", folder], { stdio: "ignore" });
  } catch {
    return false;
  }
  onTestFinished(() => {
    execFileSync("umount", ["--lazy", folder], { stdio: "ignore" });
  });
  return true;
}

/** Takes what is left of the disk of a folder, to the last byte; the result gives it back. */
export async function fillDisk(folder: string, name = "filler"): Promise<() => Promise<void>> {
  const path = join(folder, name);
  const file = await open(path, "w");
  for (const size of [1 << 20, 1 << 12, 1]) {
    const block = Buffer.alloc(size);
    const wrote = () => file.write(block).catch(() => ({ bytesWritten: 0 }));
    while ((await wrote()).bytesWritten === size);
  }
  await file.close();
  return () => rm(path);
}
