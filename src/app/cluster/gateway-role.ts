import { kubernetesAuthority } from "../../auth/kubernetes/index.ts";
import { createEndpointTable, createGateway, createInternalServer, type Gateway } from "../../gateway/index.ts";
import type { Platform } from "../../platform/index.ts";
import { kubernetesReplicas } from "../../platform/kubernetes/index.ts";
import type { ClusterParts } from "./cluster-parts.ts";

/** The audience of tokens for the internal port: one that was stolen elsewhere is good for nothing here. */
export const GATEWAY_AUDIENCE = "sless-gateway";
/** While the API server is away, a caller that it knew is let in for so long. */
const STALE_MS = 10 * 60_000;
const CALLS_STOP_MS = 10_000;

export interface GatewayRole {
  readonly gateway: Gateway;
  /** Of the internal port. */
  readonly internalUrl: string;
}

/** Serves functions from memory: tables that follow the API server, and go on without it. */
export async function startGatewayRole(parts: ClusterParts, replicas?: GatewayPlatform): Promise<GatewayRole> {
  const { settings, closers, clock, log, metrics, informers, addresses } = parts;
  const gateway = createGateway({
    endpoints: createEndpointTable(informers),
    platform: replicas ?? (await followReplicas(parts)),
    clock,
    log,
    onCall: metrics.onCall,
    ingressHost: addresses.ingressHost,
    trustForwarded: settings.gateway.trustForwarded,
  });
  metrics.watch("sless_gateway_calls_in_flight", "Calls of functions that have not ended", gateway.inFlight);
  const { authenticate } = kubernetesAuthority({
    client: parts.openClient("gateway-auth", { perSecond: 50, burst: 200 }),
    clock,
    audiences: [GATEWAY_AUDIENCE],
    staleMs: STALE_MS,
    log,
  });
  const internal = createInternalServer({ gateway, authenticate, callers: settings.gateway.callers, log });
  closers.defer(() => internal.close(CALLS_STOP_MS));
  const { url } = await internal.listen({ host: settings.listenAddress, port: settings.internalPort });
  return { gateway, internalUrl: url };
}

type GatewayPlatform = Pick<Platform, "acquire" | "onChange">;

async function followReplicas({ client, clock, log, watching }: ClusterParts): Promise<GatewayPlatform> {
  const replicas = kubernetesReplicas({ client, clock, log });
  await replicas.start(watching);
  return replicas;
}
