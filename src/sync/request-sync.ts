import { randomUUID } from "node:crypto";
import { ANNOTATIONS, type ObjectKey } from "../apis/index.ts";
import type { Clock } from "../controller/index.ts";
import type { ResourceStore } from "../resources/index.ts";

/**
 * Asks for a sync, in whatever process syncs are done, by a token that the sync answers with
 * `status.lastHandledReconcileAt`.
 *
 * @returns the token
 * @throws SlessError `not_found`, `conflict` when it is another repository by now
 */
export async function requestSync(
  { metadata }: { readonly metadata: ObjectKey & { readonly uid: string } },
  { store, clock }: { readonly store: Pick<ResourceStore, "patch">; readonly clock: Pick<Clock, "now"> },
): Promise<string> {
  const { namespace, name, uid } = metadata;
  const token = `${clock.now().toISOString()}-${randomUUID().slice(0, 8)}`;
  const patch = { metadata: { annotations: { [ANNOTATIONS.requestedAt]: token } } };
  await store.patch("Repository", { namespace, name }, patch, { owner: "api", uid });
  return token;
}
