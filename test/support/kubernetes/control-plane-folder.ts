import { mkdtemp, readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removeFolder } from "../remove-folder.ts";

const NAME = /^sless-control-plane-(\d+)-/;

/** A folder for the files of one control plane, or of who owns one. Those that killed processes left behind are removed first. */
export async function makeControlPlaneFolder(): Promise<string> {
  const names = (await readdir(tmpdir())).filter((name) => isAbandoned(name));
  await Promise.all(names.map((name) => removeFolder(join(tmpdir(), name))));
  return mkdtemp(join(tmpdir(), `sless-control-plane-${process.pid}-`));
}

function isAbandoned(name: string): boolean {
  const pid = NAME.exec(name)?.[1];
  if (pid === undefined) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}
