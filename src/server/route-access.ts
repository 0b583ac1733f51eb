import { GROUP, KINDS } from "../apis/index.ts";
import type { Access, ResourceAccess } from "../auth/index.ts";
import { CALLED_PLURALS, CODE_PLURALS, PLURALS, type Plural } from "./items.ts";

/** Parameters of a route's path. */
export type RouteParams = Readonly<Record<string, string | undefined>>;

/**
 * What a route does; `open`: anybody may, it tells nothing of any namespace; `signed`: whoever signs with a secret that
 * the route itself checks.
 */
type Rule = "open" | "signed" | ((params: RouteParams) => readonly Access[]);

type Rules = Readonly<Record<string, Rule>>;

const NAMESPACE = "/v1/namespaces/:namespace";
/** Whoever is known may. */
const anybodyKnown: Rule = () => [];

/** What routes do, by method and path: the only place that says so. A route that stands not here cannot be added. */
export const ROUTE_RULES: Rules = {
  "GET /": "open",
  "GET /funcs": "open",
  "GET /healthz": "open",
  "GET /readyz": "open",
  "POST /hooks/:namespace/:name": "signed",
  // They name functions of every namespace.
  "GET /metrics": () => [{ verb: "get", path: "/metrics" }],
  "GET /v1/whoami": anybodyKnown,
  // It looks into every namespace: for who operates the installation.
  "POST /v1/gc": () => [{ verb: "post", path: "/v1/gc" }],
  "GET /funcs/:namespace": ({ namespace }) => [
    ours("functions", { verb: "list", namespace }),
    ours("services", { verb: "list", namespace }),
  ],
  [`POST ${NAMESPACE}/ensure`]: ({ namespace }) => [core("namespaces", { verb: "create", name: namespace })],
  [`GET ${NAMESPACE}/events`]: ({ namespace }) => [core("events", { verb: "list", namespace })],
  ...secretRules(),
  ...Object.assign({}, ...(Object.keys(PLURALS) as Plural[]).map(objectRules)),
  ...subresource(CODE_PLURALS, "POST", "upload", "upload"),
  ...subresource(CODE_PLURALS, "GET", "source", "source"),
  ...subresource(CODE_PLURALS, "GET", "logs", "log"),
  ...subresource(CALLED_PLURALS, "POST", "invoke", "invoke"),
  [`GET ${NAMESPACE}/functions/:name/history`]: named("functions", "get"),
  [`GET ${NAMESPACE}/services/:name/history`]: named("services", "get"),
  // What was called with what is told by the log, too.
  ...subresource(CALLED_PLURALS, "GET", "invocations", "log"),
  [`GET ${NAMESPACE}/repositories/:name/plan`]: named("repositories", "get"),
  // Both leave a mark on objects, as `kubectl annotate` would.
  [`POST ${NAMESPACE}/repositories/:name/reconcile`]: named("repositories", "patch"),
  [`POST ${NAMESPACE}/repositories/:name/approve`]: named("repositories", "patch"),
};

function objectRules(plural: Plural): Rules {
  const collection = `${NAMESPACE}/${plural}`;
  return {
    [`GET ${collection}`]: ({ namespace }) => [ours(plural, { verb: "list", namespace })],
    [`POST ${collection}`]: ({ namespace }) => [ours(plural, { verb: "create", namespace })],
    [`GET ${collection}/:name`]: named(plural, "get"),
    [`PUT ${collection}/:name`]: named(plural, "update"),
    [`PATCH ${collection}/:name`]: named(plural, "patch"),
    [`DELETE ${collection}/:name`]: named(plural, "delete"),
  };
}

/** PUT and PATCH make what is not there. */
function secretRules(): Rules {
  const url = `${NAMESPACE}/secrets`;
  const secret =
    (...verbs: string[]): Rule =>
    ({ namespace, name }) =>
      verbs.map((verb) => core("secrets", { verb, namespace, name }));
  return {
    [`GET ${url}`]: secret("list"),
    [`GET ${url}/:name`]: secret("get"),
    [`PUT ${url}/:name`]: secret("update", "create"),
    [`PATCH ${url}/:name`]: secret("patch", "create"),
    [`DELETE ${url}/:name`]: secret("delete"),
  };
}

function subresource(plurals: readonly Plural[], method: "GET" | "POST", path: string, subresource: string): Rules {
  const verb = method === "GET" ? "get" : "create";
  const rule = (plural: Plural) => named(plural, verb, subresource);
  return Object.fromEntries(plurals.map((plural) => [`${method} ${NAMESPACE}/${plural}/:name/${path}`, rule(plural)]));
}

function named(plural: Plural, verb: string, subresource?: string): Rule {
  return ({ namespace, name }) => [ours(plural, { verb, namespace, name, subresource })];
}

interface Of {
  readonly verb: string;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly subresource?: string | undefined;
}

const ours = (plural: Plural, of: Of) => access(GROUP, KINDS[PLURALS[plural]].plural, of);
const core = (resource: string, of: Of) => access("", resource, of);

function access(group: string, resource: string, { verb, namespace, name, subresource }: Of): ResourceAccess {
  return {
    verb,
    group,
    resource,
    ...(subresource === undefined ? {} : { subresource }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
  };
}

/**
 * What a request is about to do; undefined: nobody is asked for. HEAD is a GET without its answer's body.
 *
 * @param route path of the route with its parameters, `/v1/namespaces/:namespace/functions`
 * @throws Error for a route without a rule
 */
export function routeAccess(method: string, route: string, params: RouteParams): readonly Access[] | undefined {
  const rule = ruleOf(method, route);
  return typeof rule === "string" ? undefined : rule(params);
}

/** @throws Error for a route without a rule */
export function ruleOf(method: string, route: string): Rule {
  const key = `${method === "HEAD" ? "GET" : method} ${route}`;
  const rule = Object.hasOwn(ROUTE_RULES, key) ? ROUTE_RULES[key] : undefined;
  if (!rule) throw new Error(`no rule says what ${key} does: add one to route-access.ts`);
  return rule;
}
