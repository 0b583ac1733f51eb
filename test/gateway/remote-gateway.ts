import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import pino from "pino";
import { onTestFinished } from "vitest";
import { systemClock } from "../../src/controller/index.ts";
import { SlessError } from "../../src/errors/index.ts";
import {
  createInternalServer,
  type Gateway,
  type GatewayClient,
  gatewayClient,
  type InternalServerDeps,
} from "../../src/gateway/index.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

export const CALLER = "system:serviceaccount:sless:sless-api";
export const CALLER_TOKEN = "token-of-the-api";

export interface RemoteGateway extends GatewayClient {
  /** Of the internal port. */
  readonly url: string;
  /** What the client takes its token from. */
  readonly tokenFile: string;
  stop(): Promise<void>;
}

/** A client of a gateway behind its internal port. */
export async function remoteGateway(
  gateway: Pick<Gateway, "forward">,
  options: Partial<InternalServerDeps> & { token?: string } = {},
): Promise<RemoteGateway> {
  const { token = CALLER_TOKEN, ...deps } = options;
  const server = createInternalServer({
    gateway,
    callers: [CALLER],
    log: pino({ level: "silent" }),
    async authenticate(given) {
      if (given === CALLER_TOKEN) return { username: CALLER };
      throw new SlessError("unauthenticated", { cause: "its token is not valid here" });
    },
    ...deps,
  });
  const { url } = await server.listen({ host: "127.0.0.1", port: 0 });
  const tokenFile = join(await temporaryFolder(), "token");
  await writeFile(tokenFile, `${token}\n`);
  const client = gatewayClient({ url, tokenFile, clock: systemClock });
  const stop = () => server.close(0);
  onTestFinished(async () => {
    await client.close();
    await stop();
  });
  return { ...client, url, tokenFile, stop };
}
