import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";

/** Absolute path of a program by a PATH; a name with a slash must be absolute. Undefined when it is not there. */
export function findProgram(name: string, path: string): string | undefined {
  if (name.includes("/")) return isAbsolute(name) && isProgram(name) ? name : undefined;
  return path
    .split(delimiter)
    .filter((folder) => isAbsolute(folder))
    .map((folder) => join(folder, name))
    .find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
