import type { LogFile } from "../processes/index.ts";

/** What whoever makes something is given. */
export interface Making {
  /** Its output goes there. */
  readonly log: LogFile;
  readonly signal: AbortSignal;
  /** Tells what is done now. */
  readonly step: (name: string) => void;
}
