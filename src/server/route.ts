import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema } from "fastify";
import { SlessError } from "../errors/index.ts";

export interface MethodRoute {
  readonly schema?: FastifySchema;
  readonly handler: (request: FastifyRequest, reply: FastifyReply) => unknown;
  /** Default true for GET: the same without a body. */
  readonly head?: boolean;
}

declare module "fastify" {
  interface FastifyContextConfig {
    /** The route only tells that its method is not possible. */
    readonly refused?: true;
  }
}

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;
type Method = (typeof METHODS)[number];

export type MethodRoutes = Partial<Record<"GET" | "POST" | "PUT" | "PATCH" | "DELETE", MethodRoute>>;

/** Adds a path with all of its methods; every other method is answered 405 with what is possible, its body unread. */
export function addRoute(app: FastifyInstance, url: string, methods: MethodRoutes): void {
  const allowed: Method[] = [];
  for (const [method, { schema, handler, head = method === "GET" }] of Object.entries(methods)) {
    app.route({ method, url, handler, exposeHeadRoute: head, ...(schema ? { schema } : {}) });
    allowed.push(method as Method, ...(head ? (["HEAD"] as const) : []));
  }
  app.route({
    method: METHODS.filter((method) => !allowed.includes(method)),
    url,
    config: { refused: true },
    onRequest: async (request, reply) => {
      void reply.header("allow", allowed.join(", "));
      const path = request.url.split("?", 1)[0] as string;
      throw new SlessError("method_not_allowed", { method: request.method, path, allowed: allowed.join(" or ") });
    },
    handler: () => undefined,
  });
}
