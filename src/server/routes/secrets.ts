import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { isSecretKey, isSecretName, SECRET_NAME_RULE } from "../../apis/index.ts";
import { SlessError } from "../../errors/index.ts";
import { type FieldFault, refuseFields } from "../../writes/index.ts";
import type { Named } from "../existing-object.ts";
import { checkNamespace } from "../namespaces.ts";
import { addRoute } from "../route.ts";
import type { SecretValues } from "../secret-store.ts";
import type { RouteDeps } from "../server-deps.ts";

const KEYS_MAX = 100;
/** In bytes of UTF-8. */
const VALUE_MAX = 256 * 1024;

/**
 * `/v1/namespaces/{ns}/secrets[/{name}]`: GET tells names and keys, never a value. PUT `{"values": {key: text}}` replaces
 * a secret; PATCH changes the named keys, null removes one; both make what is not there (201). DELETE removes it.
 */
export function secretRoutes(app: FastifyInstance, deps: RouteDeps): void {
  const url = "/v1/namespaces/:namespace/secrets";
  const write = (replace: boolean) => ({
    handler: (request: FastifyRequest, reply: FastifyReply) => writeSecret(request, reply, replace, deps),
  });
  addRoute(app, url, {
    GET: {
      handler: async (request) => ({ items: await deps.secrets.list((request.params as Named).namespace) }),
    },
  });
  addRoute(app, `${url}/:name`, {
    GET: {
      handler: async (request) => {
        const key = request.params as Named;
        const item = isSecretName(key.name) ? await deps.secrets.get(key) : undefined;
        if (!item) throw notFound(key);
        return item;
      },
    },
    PUT: write(true),
    PATCH: write(false),
    DELETE: {
      handler: async (request, reply) => {
        const key = request.params as Named;
        if (!isSecretName(key.name) || !(await deps.secrets.delete(key))) throw notFound(key);
        return reply.code(204).send();
      },
    },
  });
}

async function writeSecret(request: FastifyRequest, reply: FastifyReply, replace: boolean, deps: RouteDeps) {
  const { namespace, name } = request.params as Named;
  checkNamespace(namespace);
  const values = valuesOf(name, request.body, replace);
  if (!(await deps.namespaces.has(namespace))) throw new SlessError("namespace_missing", { namespace });
  const onlyRemoves = !replace && [...values.values()].every((value) => value === null);
  if (onlyRemoves && !(await deps.secrets.get({ namespace, name }))) throw notFound({ namespace, name });
  const { item, created } = await deps.secrets.write({ namespace, name }, values, { replace });
  return reply.code(created ? 201 : 200).send(item);
}

/** All faults at once; none tells a value. @throws RefusedRequest `invalid_request` */
function valuesOf(name: string, body: unknown, replace: boolean): SecretValues {
  const { values, ...others } = isMap(body) ? body : { values: undefined };
  const faults: FieldFault[] = Object.keys(others).map((field) => ({ field, message: "is no known field" }));
  if (!isSecretName(name)) faults.push({ field: "name", message: `is no name of a secret: ${SECRET_NAME_RULE}` });
  if (!isMap(values)) faults.push({ field: "values", message: "must be a map of keys to texts" });
  const entries = isMap(values) ? Object.entries(values) : [];
  if (entries.length > KEYS_MAX) faults.push({ field: "values", message: `has more than ${KEYS_MAX} keys` });
  for (const [key, value] of entries) {
    const message = keyFault(key) ?? (value === null && !replace ? undefined : valueFault(value));
    if (message !== undefined) faults.push({ field: `values/${key}`, message });
  }
  refuseFields(faults);
  return new Map(entries as [string, string | null][]);
}

function keyFault(key: string): string | undefined {
  return isSecretKey(key) ? undefined : 'is no key of a secret: use letters, digits, "-", "_" and "."';
}

/** Why a value cannot be one: it becomes a variable of an environment, or a file. */
function valueFault(value: unknown): string | undefined {
  if (typeof value !== "string") return "must be a text";
  if (value.includes("\0") || !value.isWellFormed()) return "is no plain text: encode bytes, for example as base64";
  return Buffer.byteLength(value) > VALUE_MAX ? `is larger than ${VALUE_MAX / 1024} KiB` : undefined;
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function notFound({ namespace, name }: Named): SlessError {
  return new SlessError("not_found", { what: `Secret ${namespace}/${name.slice(0, 253)}` });
}
