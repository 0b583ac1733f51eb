import { messageOf } from "../errors/index.ts";
import { parseRepositoryUrl } from "../source/remote/index.ts";

/** Why a client may make no repository of an address: only remote ones are, whatever a process was started with. */
export function repositoryUrlFault(url: string): string | undefined {
  try {
    parseRepositoryUrl(url);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
