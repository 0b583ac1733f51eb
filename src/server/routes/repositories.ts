import type { FastifyInstance, FastifyRequest } from "fastify";
import { REPOSITORY_CONTENT_KINDS } from "../../apis/index.ts";
import { SlessError } from "../../errors/index.ts";
import { approveDeletions, type HeldDeletion as Held, heldDeletions, requestSync } from "../../sync/index.ts";
import { existing, type Named } from "../existing-object.ts";
import type { HeldDeletion, RepositoryPlanItem } from "../items.ts";
import { addRoute } from "../route.ts";
import type { RouteDeps } from "../server-deps.ts";

const TEXT = { type: "string", minLength: 1, maxLength: 253 };
const DELETION = {
  type: "object",
  required: ["kind", "name", "uid"],
  additionalProperties: false,
  properties: { kind: { enum: REPOSITORY_CONTENT_KINDS }, name: TEXT, uid: TEXT },
};
const APPROVE_BODY = {
  type: ["object", "null"],
  additionalProperties: false,
  properties: { deletions: { type: "array", minItems: 1, maxItems: 10_000, items: DELETION } },
};

/** What a repository's last sync planned and held, and asking for a sync or for held deletions to go on. */
export function repositoryRoutes(app: FastifyInstance, deps: RouteDeps): void {
  const url = "/v1/namespaces/:namespace/repositories/:name";
  addRoute(app, `${url}/plan`, { GET: { handler: (request) => plan(request, deps) } });
  addRoute(app, `${url}/reconcile`, {
    POST: { handler: async (request, reply) => reply.code(202).send(await reconcile(request, deps)) },
  });
  addRoute(app, `${url}/approve`, {
    POST: { schema: { body: APPROVE_BODY }, handler: (request) => approve(request, deps) },
  });
}

async function plan(request: FastifyRequest, deps: RouteDeps): Promise<RepositoryPlanItem> {
  const repository = await existing("repositories", request.params as Named, deps);
  const { plan: planned, diagnostics = { count: 0, items: [] } } = repository.status ?? {};
  return {
    revision: planned?.revision,
    counts: planned?.counts,
    actions: planned?.actions ?? [],
    diagnostics,
    held: (await heldDeletions(deps.store, repository.metadata)).map(toHeldItem),
  };
}

async function reconcile(request: FastifyRequest, deps: RouteDeps): Promise<{ requested_at: string }> {
  const key = request.params as Named;
  const repository = await existing("repositories", key, deps);
  if (repository.spec.suspend) throw new SlessError("repository_suspended", { repository: key.name });
  return { requested_at: await requestSync(repository, deps) };
}

async function approve(request: FastifyRequest, { store }: RouteDeps): Promise<{ approved: readonly HeldDeletion[] }> {
  const { metadata } = await existing("repositories", request.params as Named, { store });
  const held = await heldDeletions(store, metadata);
  const wanted = (request.body as { deletions?: HeldDeletion[] } | null | undefined)?.deletions;
  const byUid = new Map(held.map((deletion) => [deletion.uid, deletion]));
  const approved = wanted === undefined ? held : wanted.map((deletion) => heldOne(byUid, deletion));
  if (approved.length > 0) await approveDeletions(store, metadata, approved);
  return { approved: approved.map(toHeldItem) };
}

/** @throws SlessError `not_found` when that very object is not held, perhaps no longer */
function heldOne(held: ReadonlyMap<string, Held>, { kind, name, uid }: HeldDeletion): Held {
  const found = held.get(uid);
  if (found?.ref.kind === kind && found.ref.name === name) return found;
  throw new SlessError("not_found", { what: `A held deletion of ${kind} ${name} with UID ${uid}` });
}

function toHeldItem({ ref: { kind, name }, uid }: Held): HeldDeletion {
  return { kind, name, uid };
}
