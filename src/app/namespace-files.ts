import { mkdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { NAMESPACE_MAX_LENGTH, NAMESPACE_PATTERN } from "../apis/index.ts";
import { messageOf, SlessError } from "../errors/index.ts";
import type { Namespaces } from "../server/index.ts";

const pattern = new RegExp(NAMESPACE_PATTERN);

/** Namespaces of the embedded mode: a folder each, for which the file system decides who made it. */
export function namespaceFiles(folder: string): Namespaces {
  const isName = (namespace: string) => namespace.length <= NAMESPACE_MAX_LENGTH && pattern.test(namespace);
  return {
    async has(namespace) {
      if (!isName(namespace)) return false;
      const found = await stat(join(folder, namespace)).catch(() => undefined);
      return found !== undefined;
    },
    async ensure(namespace) {
      if (!isName(namespace)) throw new SlessError("invalid_request", { cause: `${namespace} is no namespace` });
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
