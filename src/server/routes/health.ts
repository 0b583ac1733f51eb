import type { FastifyInstance } from "fastify";
import { messageOf } from "../../errors/index.ts";
import { addRoute } from "../route.ts";
import type { HealthDeps, ReadinessCheck } from "../server-deps.ts";

/** `/healthz` (the process answers), `/readyz` (it can do its work, or 503 with the reasons) and `/metrics`. */
export function healthRoutes(app: FastifyInstance, deps: Pick<HealthDeps, "readiness" | "metrics">): void {
  addRoute(app, "/healthz", { GET: { handler: () => ({ status: "ok" }) } });
  addRoute(app, "/readyz", {
    GET: {
      handler: async (_request, reply) => {
        const reasons = (await Promise.all(Object.entries(deps.readiness).map(failureOf))).filter(
          (reason) => reason !== undefined,
        );
        return reply.code(reasons.length === 0 ? 200 : 503).send({ ready: reasons.length === 0, reasons });
      },
    },
  });
  addRoute(app, "/metrics", {
    GET: {
      handler: async (_request, reply) => reply.type(deps.metrics.contentType).send(await deps.metrics.text()),
    },
  });
}

async function failureOf([name, check]: [string, ReadinessCheck]): Promise<string | undefined> {
  try {
    const reason = await check();
    return reason === undefined ? undefined : `${name}: ${reason}`;
  } catch (error) {
    return `${name}: ${messageOf(error)}`;
  }
}
