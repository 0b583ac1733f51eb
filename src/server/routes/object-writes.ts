import type { FastifyReply, FastifyRequest } from "fastify";
import {
  type Kind,
  keyOf,
  type ObjectIntent,
  type ObjectOf,
  type ObjectRef,
  refOf,
  refText,
} from "../../apis/index.ts";
import { isSlessError, SlessError } from "../../errors/index.ts";
import { createdIntent, type Known, merge, replacement, type WantedChange } from "../../writes/index.ts";
import { type Changing, changeObject, deleteObject, refuseOwned } from "../change-object.ts";
import { etagOf, itemOf, type Named, versionsOf } from "../existing-object.ts";
import { PLURALS, type Plural } from "../items.ts";
import { checkNamespace } from "../namespaces.ts";
import type { MethodRoutes } from "../route.ts";
import type { RouteDeps } from "../server-deps.ts";
import { createKeyedSlots, type KeyedSlots } from "../slots.ts";
import { isGoneSoon } from "../until-gone.ts";

export interface ObjectWrites {
  readonly collection: MethodRoutes;
  readonly member: MethodRoutes;
}

/** Decides upon a live object what a body changes. */
type Decide = (live: ObjectOf<Kind>, body: unknown, known: Known) => WantedChange;

/**
 * POST (201 with the item), PUT (replaces), PATCH (merges) and DELETE (204, or 202 while the clean-up goes on). With
 * `If-Match` they hold for the version that is named, else 409. A POST waits a moment for the end of an object of the
 * same name that is being deleted.
 */
export function objectWrites(deps: RouteDeps): (plural: Plural) => ObjectWrites {
  const known: Known = { runtimes: [...deps.runtimes.keys()], urlFault: deps.repositoryUrlFault };
  const names = createKeyedSlots();
  return (plural) => {
    const change = (decide: Decide, isMerge: boolean) => async (request: FastifyRequest, reply: FastifyReply) => {
      const decided = async (live: ObjectOf<Kind>) => {
        const wanted = decide(live, request.body, known);
        await refuseOwned(live, deps, isMerge ? wanted.named : undefined);
        refusePinned(refOf(live), wanted.spec, deps);
        return wanted.spec && { spec: wanted.spec };
      };
      return sendItem(plural, await changeObject(changing(plural, request), decided, deps), reply, deps);
    };
    return {
      collection: {
        POST: {
          handler: async (request, reply) => {
            const { namespace } = request.params as { namespace: string };
            checkNamespace(namespace);
            const intent = createdIntent(PLURALS[plural], namespace, request.body, known);
            const object = await create(intent, names, deps);
            const location = `/v1/namespaces/${namespace}/${plural}/${object.metadata.name}`;
            return sendItem(plural, object, reply.code(201).header("location", location), deps);
          },
        },
      },
      member: {
        PUT: { handler: change(replacement, false) },
        PATCH: { handler: change(merge, true) },
        DELETE: {
          handler: async (request, reply) => {
            const what = changing(plural, request);
            refusePinned({ kind: what.kind, ...what.key }, "deleted", deps);
            if ((await deleteObject(what, deps)) === "deleted") return reply.code(204).send();
            return reply.code(202).send({ name: what.key.name, namespace: what.key.namespace, deleting: true });
          },
        },
      },
    };
  };
}

function changing(plural: Plural, { params, headers }: FastifyRequest): Changing {
  const { namespace, name } = params as Named;
  return { kind: PLURALS[plural], key: { namespace, name }, expected: versionsOf(headers["if-match"]) };
}

/** What the command line says of the repository that a server was started with. */
const PINNED_FIELDS = ["url", "ref", "path"];

/**
 * @param change what becomes of the spec, undefined for nothing
 * @throws SlessError `repository_pinned`
 */
function refusePinned(
  ref: ObjectRef,
  change: Readonly<Record<string, unknown>> | "deleted" | undefined,
  { startedWith }: Pick<RouteDeps, "startedWith">,
): void {
  if (ref.kind !== "Repository" || !startedWith || keyOf(ref) !== keyOf(startedWith)) return;
  const refuse = (why: string) => new SlessError("repository_pinned", { what: refText(ref), why });
  if (change === "deleted") throw refuse("it would be there again with the next start");
  const fields = PINNED_FIELDS.filter((field) => change && field in change);
  if (fields.length > 0)
    throw refuse(`its ${fields.join(" and ")} ${fields.length === 1 ? "comes" : "come"} from the command line`);
}

async function sendItem(plural: Plural, object: ObjectOf<Kind>, reply: FastifyReply, deps: RouteDeps) {
  return reply.header("etag", etagOf(object)).send(await itemOf(plural, object as never, deps));
}

/** Kinds that share the addresses below `/fn/`. */
const OTHER_KIND = { Function: "Service", Service: "Function" } as const;

/** @throws SlessError `namespace_missing`, `already_exists`, `being_deleted` */
async function create(intent: ObjectIntent<Kind>, names: KeyedSlots, deps: RouteDeps): Promise<ObjectOf<Kind>> {
  const { store, namespaces } = deps;
  const { kind, metadata } = intent;
  const { namespace, name } = metadata;
  if (!(await namespaces.has(namespace))) throw new SlessError("namespace_missing", { namespace });
  if (kind !== "Function" && kind !== "Service") return createInPlace(intent, deps);
  const other = { kind: OTHER_KIND[kind], namespace, name };
  const refuseTaken = async () => {
    if (await store.get(other.kind, other)) throw new SlessError("already_exists", { what: refText(other) });
  };
  return names.run(`${namespace}/${name}`, async () => {
    if (!(await letGo(other, deps))) await refuseTaken();
    const object = await createInPlace(intent, deps);
    try {
      // A sync, which knows nothing of our turns, may have made the other one meanwhile: it stays.
      await refuseTaken();
    } catch (error) {
      await store.delete(kind, refOf(object), { uid: object.metadata.uid });
      throw error;
    }
    return object;
  });
}

/** Creates, once what is being deleted in its place is gone. @throws SlessError `already_exists`, `being_deleted` */
async function createInPlace(intent: ObjectIntent<Kind>, deps: RouteDeps): Promise<ObjectOf<Kind>> {
  const creating = () => deps.store.create(intent, { owner: "api" });
  try {
    return await creating();
  } catch (error) {
    if (!isSlessError(error, "already_exists") || !(await letGo(refOf(intent), deps))) throw error;
    return creating();
  }
}

/**
 * @returns whether an object was being deleted there, and is gone now
 * @throws SlessError `being_deleted` when that takes longer than a request may wait
 */
async function letGo(ref: ObjectRef, deps: RouteDeps): Promise<boolean> {
  const live = await deps.store.get(ref.kind, ref);
  if (!live?.metadata.deletionTimestamp) return false;
  if (await isGoneSoon(ref, live.metadata.uid, deps)) return true;
  throw new SlessError("being_deleted", { what: refText(ref) });
}
