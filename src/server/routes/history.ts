import type { FastifyInstance } from "fastify";
import { type ObjectOf, refOf, sourceKey, type WorkloadRevision } from "../../apis/index.ts";
import { existing, type Named } from "../existing-object.ts";
import { CALLED_PLURALS, type KeptRevisionItem } from "../items.ts";
import { addRoute } from "../route.ts";
import type { RouteDeps } from "../server-deps.ts";
import { revisionItem } from "../to-item.ts";

/** `GET …/history`: the revisions that served, the newest first, and whether their sources and images are still there. */
export function historyRoutes(app: FastifyInstance, deps: RouteDeps): void {
  for (const plural of CALLED_PLURALS) {
    addRoute(app, `/v1/namespaces/:namespace/${plural}/:name/history`, {
      GET: {
        handler: async (request) => {
          const object = await existing(plural, request.params as Named, deps);
          const items = (object.status?.history ?? []).map((one) => keptRevision(object, one, deps));
          return { items: await Promise.all(items) };
        },
      },
    });
  }
}

async function keptRevision(
  object: ObjectOf<"Function"> | ObjectOf<"Service">,
  revision: WorkloadRevision,
  { objects, builder }: Pick<RouteDeps, "objects" | "builder">,
): Promise<KeptRevisionItem> {
  const { sourceDigest, imageRef } = revision;
  const [source, image] = await Promise.all([
    objects.has(sourceKey(refOf(object), sourceDigest)).catch(unknown),
    builder.has(imageRef).catch(unknown),
  ]);
  return { ...revisionItem(revision), source_present: source, image_present: image };
}

/** A store or registry that does not answer hides nothing of the history itself. */
function unknown(): undefined {
  return undefined;
}
