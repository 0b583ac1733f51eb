import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { systemClock, type TimerClock } from "../../src/controller/index.ts";
import { SlessError } from "../../src/errors/index.ts";
import type { GarbageReport } from "../../src/garbage/index.ts";
import { createLeaderPort, type Leader, type LeaderClient, leaderClient } from "../../src/leader/index.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

export const CALLER = "system:serviceaccount:sless:sless-api";
export const CALLER_TOKEN = "token-of-the-api";

export const REPORT: GarbageReport = {
  dry_run: true,
  started_at: "2026-01-01T00:00:00.000Z",
  duration_ms: 5,
  removed: { count: 1, bytes: 7 },
  waiting: { count: 0, bytes: 0 },
  kept: 3,
  items: [],
  failures: [{ where: "registry", error: "it is away" }],
};

/** A leader that knows nothing, but for what the test says. */
export function fakeLeader(parts: Partial<Leader> = {}): Leader {
  return {
    placeOf: async () => undefined,
    async *buildLogs() {},
    collectGarbage: async () => REPORT,
    ...parts,
  };
}

export interface Warned {
  readonly fields: object;
  readonly message: string;
}

export interface TestPort {
  readonly url: string;
  readonly warned: Warned[];
  close(): Promise<void>;
}

/** Knows the token of the api, and that of a tenant. */
async function authenticate(token: string): Promise<{ username: string }> {
  if (token === CALLER_TOKEN) return { username: CALLER };
  if (token === "tenant") return { username: "system:serviceaccount:team-a:default" };
  if (token === "away") throw new SlessError("cluster_unavailable", { cause: "it is away" });
  throw new SlessError("unauthenticated", { cause: "its token is not valid here" });
}

export async function leaderPort(
  leader: Leader | (() => Leader | undefined),
  clock: TimerClock = systemClock,
): Promise<TestPort> {
  const warned: Warned[] = [];
  const port = createLeaderPort({
    leader: typeof leader === "function" ? leader : () => leader,
    authenticate,
    callers: [CALLER],
    clock,
    log: { warn: (fields, message) => void warned.push({ fields, message }) },
  });
  const { url } = await port.listen({ host: "127.0.0.1", port: 0 });
  const close = () => port.close(0);
  onTestFinished(close);
  return { url, warned, close };
}

export interface ClientOptions {
  /** In the file; default the api's. */
  readonly token?: string;
  readonly clock?: TimerClock;
}

/** A client of whatever is at the address. */
export async function clientOf(
  find: string | (() => Promise<string>),
  { token = CALLER_TOKEN, clock = systemClock }: ClientOptions = {},
): Promise<LeaderClient> {
  const file = join(await temporaryFolder(), "token");
  await writeFile(file, `${token}\n`);
  const address = { find: typeof find === "string" ? async () => find : find };
  const client = leaderClient({ address, tokenFile: file, clock });
  onTestFinished(() => client.close());
  return client;
}
