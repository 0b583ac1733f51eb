import { once } from "node:events";
import { readClusterSettings } from "../config/index.ts";
import type { Role } from "./cluster-app.ts";
import type { VerbContext } from "./verb.ts";

/** Does what the roles do until the process is told to end; what is under way ends first. */
export async function runRoles(roles: readonly Role[], { io, deps }: VerbContext): Promise<number> {
  const starting = deps.startCluster({ roles, settings: readClusterSettings(io.env), signal: io.signal });
  const app = await starting.catch((error: unknown) => {
    if (io.signal.aborted) return undefined;
    throw error;
  });
  if (!app) return 0;
  if (!io.signal.aborted) await once(io.signal, "abort");
  await app.close();
  return 0;
}
