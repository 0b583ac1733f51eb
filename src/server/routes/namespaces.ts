import type { FastifyInstance, FastifyRequest } from "fastify";
import { SlessError } from "../../errors/index.ts";
import { existing, type Named } from "../existing-object.ts";
import { CALLED_PLURALS } from "../items.ts";
import { checkNamespace } from "../namespaces.ts";
import { addRoute } from "../route.ts";
import type { RouteDeps } from "../server-deps.ts";

const EVENTS_QUERY = { type: "object", properties: { limit: { type: "integer", minimum: 1, maximum: 200 } } };

/** Who asks (`/v1/whoami`), and what belongs to a namespace as a whole: `…/ensure` and `…/events`. */
export function namespaceRoutes(app: FastifyInstance, deps: RouteDeps): void {
  addRoute(app, "/v1/whoami", {
    GET: { handler: ({ headers }) => deps.whoami({ headers }) },
  });
  addRoute(app, "/v1/namespaces/:namespace/ensure", {
    POST: {
      handler: async (request, reply) => {
        const { namespace } = request.params as { namespace: string };
        checkNamespace(namespace);
        const status = await deps.namespaces.ensure(namespace, await deps.whoami({ headers: request.headers }));
        return reply.code(status === "created" ? 201 : 200).send({ namespace, status });
      },
    },
  });
  addRoute(app, "/v1/namespaces/:namespace/events", {
    GET: { schema: { querystring: EVENTS_QUERY }, handler: (request) => events(request, deps) },
  });
  for (const plural of CALLED_PLURALS) {
    addRoute(app, `/v1/namespaces/:namespace/${plural}/:name/invocations`, {
      GET: {
        handler: async (request) => {
          const { name } = (await existing(plural, request.params as Named, deps)).metadata;
          throw new SlessError("history_missing", { name });
        },
      },
    });
  }
}

/** The latest, oldest first. */
async function events(request: FastifyRequest, { events: told }: RouteDeps) {
  const { namespace } = request.params as { namespace: string };
  const { limit } = request.query as { limit?: number };
  const items = await told.list(namespace);
  return { items: limit === undefined ? items : items.slice(-limit) };
}
