import { mkdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { isNamespaceName } from "../apis/index.ts";
import { messageOf, SlessError } from "../errors/index.ts";
import type { Namespaces } from "../server/index.ts";

/** Namespaces of the embedded mode: a folder each, for which the file system decides who made it. */
export function namespaceFiles(folder: string): Namespaces {
  return {
    async has(namespace) {
      if (!isNamespaceName(namespace)) return false;
      const found = await stat(join(folder, namespace)).catch(() => undefined);
      return found !== undefined;
    },
    async ensure(namespace) {
      if (!isNamespaceName(namespace))
        throw new SlessError("invalid_request", { cause: `${namespace} is no namespace` });
      try {
        await mkdir(folder, { recursive: true });
        await mkdir(join(folder, namespace));
        return "created";
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "EEXIST") return "exists";
        throw new SlessError("storage_unavailable", { what: folder, cause: messageOf(error) }, { cause: error });
      }
    },
  };
}
