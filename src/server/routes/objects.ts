import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { etagOf, existing, itemOf, type Named, namesIn } from "../existing-object.ts";
import { fittingPage } from "../fitting-page.ts";
import { PLURALS, type Plural } from "../items.ts";
import { listedObject } from "../listed-object.ts";
import { addRoute } from "../route.ts";
import type { RouteDeps } from "../server-deps.ts";
import { toItem } from "../to-item.ts";
import { objectWrites } from "./object-writes.ts";

const PAGE_LIMIT_MAX = 1_000;
const PAGE_LIMIT_DEFAULT = 500;
const OUTPUT = {
  output: { type: "string", enum: ["object"], description: "object: whole objects as the store has them" },
};
const OBJECT_QUERY = { type: "object", properties: OUTPUT };
const LIST_QUERY = {
  type: "object",
  properties: {
    ...OUTPUT,
    limit: { type: "integer", minimum: 1, maximum: PAGE_LIMIT_MAX },
    continue: { type: "string", maxLength: 400 },
  },
};
interface ListQuery {
  readonly output?: "object";
  readonly limit?: number;
  readonly continue?: string;
}

/**
 * GET of lists, `{"items", "next"}` sorted by name, and of single objects, in the fields of the REST API. With
 * `?output=object` both give whole objects instead (apiVersion, kind, metadata, spec, status), for
 * `sless describe -o yaml`. `?limit` (default 500) and `?continue=<next>` page through a list, in which results of jobs
 * are cut. What may be written is written at the same paths.
 */
export function objectRoutes(app: FastifyInstance, deps: RouteDeps): void {
  const writesOf = objectWrites(deps);
  for (const plural of Object.keys(PLURALS) as Plural[]) {
    const writes = writesOf(plural);
    const url = `/v1/namespaces/:namespace/${plural}`;
    addRoute(app, url, {
      GET: { schema: { querystring: LIST_QUERY }, handler: (request) => list(plural, request, deps) },
      ...writes.collection,
    });
    addRoute(app, `${url}/:name`, {
      GET: { schema: { querystring: OBJECT_QUERY }, handler: (request, reply) => single(plural, request, reply, deps) },
      ...writes.member,
    });
  }
}

async function list(plural: Plural, request: FastifyRequest, deps: RouteDeps): Promise<unknown> {
  const { namespace } = request.params as Named;
  const query = request.query as ListQuery;
  const { limit = PAGE_LIMIT_DEFAULT, continue: token } = query;
  const { next, items: listed } = await fittingPage(deps.store, PLURALS[plural], {
    namespace,
    limit,
    ...(token !== undefined && { continue: token }),
  });
  const page = { items: listed.map((object) => listedObject(object)), next };
  if (query.output === "object") return page;
  const names = await namesIn(namespace, deps);
  return { ...page, items: page.items.map((object) => toItem(plural, object, names)) };
}

async function single(plural: Plural, request: FastifyRequest, reply: FastifyReply, deps: RouteDeps): Promise<unknown> {
  const object = await existing(plural, request.params as Named, deps);
  void reply.header("etag", etagOf(object));
  return (request.query as ListQuery).output === "object" ? object : itemOf(plural, object, deps);
}
