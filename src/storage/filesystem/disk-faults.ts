import { messageOf, SlessError } from "../../errors/index.ts";

/** Carries the error of a body past those of the disk. */
export class BodyFault extends Error {}

/** Runs file operations; what the system refuses becomes `storage_unavailable` with the system's own words. */
export async function guarded<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof BodyFault) throw error.cause;
    throw new SlessError("storage_unavailable", { what, cause: messageOf(error) }, { cause: error });
  }
}

/** A key below an object, or a folder of keys, names nothing either. */
export async function absentIsUndefined<T>(operation: Promise<T>): Promise<T | undefined> {
  try {
    return await operation;
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "EISDIR"].includes(codeOf(error) ?? "")) return undefined;
    throw error;
  }
}

export function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
