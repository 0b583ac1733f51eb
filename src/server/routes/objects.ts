import type { FastifyInstance, FastifyRequest } from "fastify";
import type { ObjectOf } from "../../apis/index.ts";
import { SlessError } from "../../errors/index.ts";
import { PLURALS, type Plural } from "../items.ts";
import { PAGE_LIMIT_MAX, pageOf } from "../page.ts";
import { addRoute } from "../route.ts";
import type { RouteDeps } from "../server-deps.ts";
import { repositoryNames, toItem } from "../to-item.ts";

export interface Named {
  readonly namespace: string;
  readonly name: string;
}

const OUTPUT = {
  output: { type: "string", enum: ["object"], description: "object: whole objects as the store has them" },
};
const OBJECT_QUERY = { type: "object", properties: OUTPUT };
const LIST_QUERY = {
  type: "object",
  properties: {
    ...OUTPUT,
    limit: { type: "integer", minimum: 1, maximum: PAGE_LIMIT_MAX },
    continue: { type: "string", maxLength: 200 },
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
 * `sless describe -o yaml`. `?limit` (default 500) and `?continue=<next>` page through a list.
 */
export function objectRoutes(app: FastifyInstance, deps: RouteDeps): void {
  for (const plural of Object.keys(PLURALS) as Plural[]) {
    const url = `/v1/namespaces/:namespace/${plural}`;
    addRoute(app, url, {
      GET: { schema: { querystring: LIST_QUERY }, handler: (request) => list(plural, request, deps) },
    });
    addRoute(app, `${url}/:name`, {
      GET: { schema: { querystring: OBJECT_QUERY }, handler: (request) => single(plural, request, deps) },
    });
  }
}

async function list(plural: Plural, request: FastifyRequest, deps: RouteDeps): Promise<unknown> {
  const { namespace } = request.params as Named;
  const query = request.query as ListQuery;
  const { items } = await deps.store.list(PLURALS[plural], { namespace });
  const page = pageOf(items, { limit: query.limit, token: query.continue });
  if (query.output === "object") return page;
  const names = await namesIn(namespace, deps);
  return { ...page, items: page.items.map((object) => toItem(plural, object, names)) };
}

async function single(plural: Plural, request: FastifyRequest, deps: RouteDeps): Promise<unknown> {
  const key = request.params as Named;
  const object = await existing(plural, key, deps);
  if ((request.query as ListQuery).output === "object") return object;
  return toItem(plural, object, await namesIn(key.namespace, deps));
}

async function namesIn(namespace: string, { store }: RouteDeps) {
  return repositoryNames((await store.list("Repository", { namespace })).items);
}

/** @throws SlessError `not_found` */
export async function existing<P extends Plural>(
  plural: P,
  { namespace, name }: Named,
  { store }: Pick<RouteDeps, "store">,
): Promise<ObjectOf<(typeof PLURALS)[P]>> {
  const kind = PLURALS[plural];
  const object = await store.get(kind, { namespace, name });
  if (!object) throw new SlessError("not_found", { what: `${kind} ${namespace}/${name}` });
  return object;
}
