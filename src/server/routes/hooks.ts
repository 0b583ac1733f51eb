import type { IncomingMessage } from "node:http";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { DeliveryAnswer } from "../../hooks/index.ts";
import type { Named } from "../existing-object.ts";
import { requestBody } from "../request-body.ts";
import { addRoute } from "../route.ts";
import type { RouteDeps } from "../server-deps.ts";

/** As large as the payloads of GitHub and GitLab get; forges give up after ten seconds themselves. */
const LIMITS = {
  what: "The payload",
  maxBytes: 25 * 1024 * 1024,
  idleMs: 5_000,
  totalMs: 15_000,
  pace: { bytesPerSecond: 64 * 1024, afterMs: 3_000 },
};

/** `POST /hooks/{namespace}/{repository}`: a forge says that something was pushed. */
export function hookRoutes(app: FastifyInstance, deps: RouteDeps): void {
  void app.register(async (scope) => {
    // What is signed are the bytes as they come, whatever they are said to be.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", (_request, _payload, done) => done(null));
    addRoute(scope, "/hooks/:namespace/:name", {
      POST: {
        handler: async (request, reply) => {
          const answer = await receive(request, deps);
          return reply.code(answer.sync === "requested" ? 202 : 200).send(answer);
        },
      },
    });
  });
}

function receive({ params, headers, raw }: FastifyRequest, deps: RouteDeps): Promise<DeliveryAnswer> {
  const { namespace, name } = params as Named;
  const body = (signal: AbortSignal) => requestBody(raw, { ...LIMITS, signal });
  return deps.hooks.receive({ namespace, name }, { headers, from: senderOf(raw, deps), body });
}

/** The last that a proxy added is what it saw itself; what stands before may be anybody's word. */
function senderOf({ headers, socket }: IncomingMessage, { trustForwarded }: Pick<RouteDeps, "trustForwarded">): string {
  const forwarded = trustForwarded ? headers["x-forwarded-for"] : undefined;
  const last = [forwarded].flat().at(-1)?.split(",").at(-1)?.trim();
  return last || (socket.remoteAddress ?? "");
}
