import { readFile } from "node:fs/promises";
import type { Clock } from "../controller/clock.ts";
import { messageOf, type SlessError } from "../errors/index.ts";

/** The kubelet writes a new token when a fifth of the old one's life is left: minutes at least. */
const FRESH_MS = 60_000;

/**
 * Reads a token that is written anew now and then.
 *
 * @param unreadable what is thrown when it cannot be read
 */
export function tokenFile(
  path: string,
  clock: Pick<Clock, "monotonicMs">,
  unreadable: (cause: string) => SlessError,
): () => Promise<string> {
  let kept: { readonly token: string; readonly until: number } | undefined;
  return async () => {
    if (kept && kept.until > clock.monotonicMs()) return kept.token;
    try {
      const token = (await readFile(path, "utf8")).trim();
      kept = { token, until: clock.monotonicMs() + FRESH_MS };
      return token;
    } catch (error) {
      throw unreadable(`the token for it cannot be read: ${messageOf(error)}`);
    }
  };
}
