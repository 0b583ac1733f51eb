import type { FastifyInstance, FastifyRequest } from "fastify";
import type { DeliveryAnswer } from "../../hooks/index.ts";
import type { Named } from "../existing-object.ts";
import { requestBody } from "../request-body.ts";
import { addRoute } from "../route.ts";
import type { RouteDeps } from "../server-deps.ts";

/** As large as the payloads of GitHub and GitLab get; forges give up after ten seconds themselves. */
const LIMITS = { what: "The payload", maxBytes: 25 * 1024 * 1024, idleMs: 5_000, totalMs: 15_000 };

/** `POST /hooks/{namespace}/{repository}`: a forge says that something was pushed. */
export function hookRoutes(app: FastifyInstance, { hooks }: RouteDeps): void {
  void app.register(async (scope) => {
    // What is signed are the bytes as they come, whatever they are said to be.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", (_request, _payload, done) => done(null));
    addRoute(scope, "/hooks/:namespace/:name", {
      POST: {
        handler: async (request, reply) => {
          const answer = await receive(request, hooks);
          return reply.code(answer.sync === "requested" ? 202 : 200).send(answer);
        },
      },
    });
  });
}

function receive({ params, headers, raw }: FastifyRequest, hooks: RouteDeps["hooks"]): Promise<DeliveryAnswer> {
  const { namespace, name } = params as Named;
  return hooks.receive({ namespace, name }, { headers, body: requestBody(raw, LIMITS) });
}
