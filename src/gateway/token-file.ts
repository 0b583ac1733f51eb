import { readFile } from "node:fs/promises";
import type { Clock } from "../controller/index.ts";
import { messageOf, SlessError } from "../errors/index.ts";

/** The kubelet writes a new token when a fifth of the old one's life is left: minutes at least. */
const FRESH_MS = 60_000;

/** Reads a token that is written anew now and then. @throws SlessError `gateway_unreachable` when it cannot be read */
export function tokenFile(path: string, clock: Pick<Clock, "monotonicMs">): () => Promise<string> {
  let kept: { readonly token: string; readonly until: number } | undefined;
  return async () => {
    if (kept && kept.until > clock.monotonicMs()) return kept.token;
    try {
      const token = (await readFile(path, "utf8")).trim();
      kept = { token, until: clock.monotonicMs() + FRESH_MS };
      return token;
    } catch (error) {
      throw new SlessError("gateway_unreachable", { cause: `the token for it cannot be read: ${messageOf(error)}` });
    }
  };
}
