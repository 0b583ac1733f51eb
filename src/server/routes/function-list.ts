import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type FunctionRow, guidePage, listPage, type Page } from "../list-page.ts";
import { addRoute } from "../route.ts";
import type { RouteDeps } from "../server-deps.ts";

/** `/funcs/{ns}`: what runs in a namespace, as text for a terminal and as HTML for a browser; `/` and `/funcs` say how to ask. */
export function functionListRoutes(app: FastifyInstance, deps: RouteDeps): void {
  const guide = {
    GET: { handler: (request: FastifyRequest, reply: FastifyReply) => send(guidePage(), request, reply) },
  };
  addRoute(app, "/", guide);
  addRoute(app, "/funcs", guide);
  addRoute(app, "/funcs/:namespace", {
    GET: {
      handler: async (request, reply) => {
        const { namespace } = request.params as { namespace: string };
        return send(listPage(namespace, await rowsOf(namespace, deps)), request, reply);
      },
    },
  });
}

async function rowsOf(namespace: string, { store }: RouteDeps): Promise<FunctionRow[]> {
  const [functions, services] = await Promise.all([
    store.list("Function", { namespace }),
    store.list("Service", { namespace }),
  ]);
  return [...functions.items, ...services.items]
    .map(({ kind, metadata, status = {} }) => ({
      name: metadata.name,
      kind,
      phase: status.phase ?? "Pending",
      url: status.url ?? "",
      message: status.message ?? "",
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

function send(page: Page, request: FastifyRequest, reply: FastifyReply) {
  const wantsHtml = (request.headers.accept ?? "").includes("text/html");
  void reply.headers({
    "cache-control": "no-store",
    vary: "accept",
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
  });
  return reply
    .type(wantsHtml ? "text/html; charset=utf-8" : "text/plain; charset=utf-8")
    .send(wantsHtml ? page.html : page.text);
}
