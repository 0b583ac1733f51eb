import type { FastifyInstance } from "fastify";
import { refOf } from "../../apis/index.ts";
import { existing, type Named } from "../existing-object.ts";
import { CALLED_PLURALS } from "../items.ts";
import { addRoute } from "../route.ts";
import type { RouteDeps } from "../server-deps.ts";

/** They prove to sless who calls, and are no business of the function. */
const CREDENTIALS = ["authorization", "cookie"];

/** `POST …/invoke`: a call with the request's body and headers that needs no http trigger. */
export function invokeRoutes(app: FastifyInstance, deps: RouteDeps): void {
  void app.register(async (scope) => {
    // The body belongs to the function: nobody reads it here, whatever its type and size.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", (_request, _payload, done) => done(null));
    for (const plural of CALLED_PLURALS) {
      addRoute(scope, `/v1/namespaces/:namespace/${plural}/:name/invoke`, {
        POST: {
          handler: async (request, reply) => {
            const workload = refOf(await existing(plural, request.params as Named, deps));
            reply.hijack();
            const options = { path: "/", trigger: "invoke", withoutHeaders: CREDENTIALS };
            deps.gateway.forward(workload, request.raw, reply.raw, options);
          },
        },
      });
    }
  });
}
