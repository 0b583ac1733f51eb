import type { FastifyInstance } from "fastify";
import { addRoute } from "../route.ts";
import type { RouteDeps } from "../server-deps.ts";

const QUERY = {
  type: "object",
  additionalProperties: false,
  properties: { dry_run: { type: "boolean", default: false } },
};

/** `POST /v1/gc`: collects garbage of all namespaces now; with `?dry_run=true` only tells what would go, and when. */
export function garbageRoutes(app: FastifyInstance, { collectGarbage }: RouteDeps): void {
  addRoute(app, "/v1/gc", {
    POST: {
      schema: { querystring: QUERY },
      handler: (request) => collectGarbage({ dryRun: (request.query as { dry_run: boolean }).dry_run }),
    },
  });
}
