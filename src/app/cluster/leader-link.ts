import { kubernetesAuthority } from "../../auth/kubernetes/index.ts";
import { keptLogs } from "../../build/images/index.ts";
import type { Builder } from "../../build/index.ts";
import { messageOf, SlessError } from "../../errors/index.ts";
import type { Garbage } from "../../garbage/index.ts";
import { createLeaderPort, type Leader, leaderClient } from "../../leader/index.ts";
import { leaseHolder } from "../../leader/kubernetes/index.ts";
import type { ServerDeps } from "../../server/index.ts";
import type { SyncController } from "../../sync/index.ts";
import type { ClusterObjects } from "./cluster-objects.ts";
import type { ClusterParts } from "./cluster-parts.ts";

/** Of the controllers: who holds it leads. */
export const CONTROLLER_LEASE = "sless-controller";
/** The audience of tokens for the controller's port: one that was stolen elsewhere is good for nothing here. */
const CONTROLLER_AUDIENCE = "sless-controller";
const CALLS_STOP_MS = 1_000;
/** Questions come one by one; those of refused writes wait for no other. */
const LINK_LIMIT = { perSecond: 50, burst: 100 };

/** What is the leader's own in this process while it leads. */
export interface Led {
  readonly sync: Pick<SyncController, "placeOf">;
  readonly garbage: Pick<Garbage, "collect">;
  /** Aborts when it leads no more. */
  readonly signal: AbortSignal;
}

/** This process as the leader that others ask. */
export function ownLeader({ sync, garbage, signal }: Led, builder: Pick<Builder, "logs">): Leader {
  return {
    placeOf: async (object, repository) => sync.placeOf(object, repository),
    buildLogs: (workload, options) => builder.logs(workload, options),
    async collectGarbage(options) {
      try {
        return await garbage.collect(options);
      } catch (error) {
        if (!signal.aborted) throw error;
        const cause = "it ceased to lead before it was through, and the next one goes on where it was";
        throw new SlessError("controller_unreachable", { cause }, { cause: error });
      }
    },
  };
}

/** Answers the api of other processes while this one leads. */
export async function openLeaderPort(parts: ClusterParts, leader: () => Leader | undefined): Promise<void> {
  const { settings, closers, clock, log } = parts;
  const { authenticate } = kubernetesAuthority({
    client: parts.openClient("controller-auth", LINK_LIMIT),
    clock,
    audiences: [CONTROLLER_AUDIENCE],
    log,
  });
  const port = createLeaderPort({ leader, authenticate, callers: settings.controller.callers, clock, log });
  closers.defer(() => port.close(CALLS_STOP_MS));
  const { url } = await port.listen({ host: settings.listenAddress, port: settings.controller.port });
  log.info({ url }, "answers the api while it leads");
}

/** What a REST API needs of the leader, wherever that is. */
export interface LeaderLink extends Required<Pick<ServerDeps, "placeOf" | "collectGarbage">> {
  readonly buildLogs: Builder["logs"];
}

/** @param own of this process, while it leads */
export function openLeaderLink(
  parts: ClusterParts,
  { objects }: ClusterObjects,
  own: () => Leader | undefined,
): LeaderLink {
  const { settings, closers, clock, log } = parts;
  const { port, tokenFile } = settings.controller;
  const { namespace } = settings.pod;
  const client = parts.openClient("leader", LINK_LIMIT);
  const address = leaseHolder({ client, namespace, name: CONTROLLER_LEASE, port });
  const remote = closers.add(leaderClient({ address, tokenFile, clock }));
  const leader = () => own() ?? remote;
  return {
    collectGarbage: (options) => leader().collectGarbage(options),
    placeOf: (object, repository) =>
      leader()
        .placeOf(object, repository)
        .catch((error: unknown) => {
          log.debug({ err: messageOf(error) }, "the line of a manifest is not told");
          return undefined;
        }),
    async *buildLogs(workload, options) {
      let hasBegun = false;
      try {
        for await (const chunk of leader().buildLogs(workload, options)) {
          hasBegun = true;
          yield chunk;
        }
      } catch (error) {
        if (hasBegun || options.signal.aborted) throw error;
        log.warn({ ...workload, err: messageOf(error) }, "the controller did not tell of a build");
        const kept = await keptLogs(objects).fromElsewhere(workload);
        if (kept) yield kept;
        yield NO_LEADER;
      }
    },
  };
}

/** It comes last, where it is seen also by who asks for the last lines alone. */
const NO_LEADER = Buffer.from(
  "sless: the controller does not answer: this is of the last build that ended, if any, and a newer one is not told.\n",
);
