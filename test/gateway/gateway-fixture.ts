import type { RequestListener } from "node:http";
import pino from "pino";
import { onTestFinished } from "vitest";
import { keyOf, type WorkloadRef } from "../../src/apis/index.ts";
import { systemClock } from "../../src/controller/index.ts";
import {
  createGateway,
  type Endpoint,
  type FinishedCall,
  type Gateway,
  type GatewayDeps,
} from "../../src/gateway/index.ts";
import { type FakePlatform, fakePlatform } from "../support/fake-platform.ts";
import { httpServer, type RunningServer } from "../support/http-server.ts";

export const HELLO: WorkloadRef = { kind: "Function", namespace: "default", name: "hello" };

export interface GatewayFixture {
  readonly gateway: Gateway;
  readonly platform: FakePlatform;
  /** Origin of the gateway's server. */
  readonly origin: string;
  readonly port: number;
  readonly finished: FinishedCall[];
  readonly endpoints: Map<string, Endpoint>;
  /** A replica of `hello` that answers with this handler, beside those that serve already. */
  addReplica(handler: RequestListener): Promise<RunningServer & { replica: string }>;
}

/** A gateway behind a real server, in front of real servers as replicas of the function `default/hello`. */
export async function gatewayFixture(
  options: Partial<GatewayDeps> & { endpoint?: Partial<Endpoint>; handler?: RequestListener } = {},
): Promise<GatewayFixture> {
  const platform = fakePlatform();
  const hello: Endpoint = { workload: HELLO, timeoutSec: 30, replicas: 1, public: true, ...options.endpoint };
  const endpoints = new Map([[keyOf(HELLO), hello]]);
  const finished: FinishedCall[] = [];
  const gateway = createGateway({
    endpoints: { find: (key) => endpoints.get(keyOf(key)) },
    platform,
    clock: systemClock,
    log: pino({ level: "silent" }),
    onCall: (call) => finished.push(call),
    ...options,
  });
  const front = await httpServer((req, res) => gateway.handle(req, res));
  front.server.on("checkContinue", (req, res) => gateway.handle(req, res, { awaitsContinue: true }));
  front.server.on("upgrade", (req, socket, head) => gateway.handleUpgrade(req, socket, head));
  onTestFinished(() => gateway.close());

  const replicas: { replica: string; origin: string }[] = [];
  async function addReplica(handler: RequestListener) {
    const server = await httpServer(handler);
    const replica = `hello-${replicas.length}`;
    replicas.push({ replica, origin: server.origin });
    platform.serve(HELLO, replicas);
    return { ...server, replica };
  }
  if (options.handler) await addReplica(options.handler);
  return { gateway, platform, origin: front.origin, port: front.port, finished, endpoints, addReplica };
}
