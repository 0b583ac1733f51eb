import { CHILD_LABELS, MANAGED_BY, TENANT_LABEL } from "../apis/index.ts";
import { SlessError } from "../errors/index.ts";
import type { ApiObject, KubernetesClient } from "../kubernetes/index.ts";
import { type ApiServerAddress, readApiServerAddresses } from "./api-server-addresses.ts";
import { toSlessError } from "./cluster-error.ts";
import { isAsWanted } from "./is-as-wanted.ts";
import type { TenancySettings, TenantSubject } from "./tenancy-settings.ts";
import { checkTenantName } from "./tenant-name.ts";
import { applyObject, createObject, type NamespaceObject, readNamespace } from "./tenant-writes.ts";
import {
  deployNamespace,
  editorBinding,
  objectsQuota,
  policiesOf,
  SUBJECT_ANNOTATION,
  userNamespace,
} from "./wanted-objects.ts";

/**
 * The namespaces of users and those in which their workloads run. None is ever deleted. All of it is level-based: it
 * may be called at any time, by many processes at once, and corrects what differs.
 *
 * @throws SlessError `invalid_request` for a namespace that is no user's (`checkTenantName`), `namespace_not_ours` when
 *   the deploy namespace was made by somebody else, `being_deleted`, `cluster_refused`, `cluster_unavailable`
 */
export interface Tenancy {
  /** False also for one that is being deleted. */
  has(namespace: string): Promise<boolean>;
  /**
   * Makes the namespace, with a quota of what may be written there, and its deploy namespace. Of several calls at once one is told "created". A namespace that
   * was there before stays as it is and nobody gets rights in it.
   *
   * @param subject gets the editor's role in the namespace that is made for it; it is kept with the namespace, and
   *   nobody else gets that role by a later call
   */
  ensure(namespace: string, subject?: TenantSubject): Promise<"created" | "exists">;
  /**
   * Makes the namespace in which workloads run, with its policies, quota and limits; calls for one namespace at the
   * same time are one.
   *
   * @returns what was written or found, for caches
   */
  ensureDeployNamespace(namespace: string): Promise<readonly ApiObject[]>;
}

export interface TenancyOptions {
  readonly client: KubernetesClient;
  readonly settings: TenancySettings;
  /** From a watch; default: asked for with each call. */
  readonly apiServer?: () => Promise<readonly ApiServerAddress[]> | readonly ApiServerAddress[];
}

export function createTenancy({ client, settings, apiServer }: TenancyOptions): Tenancy {
  const addresses = apiServer ?? (() => readApiServerAddresses(client));
  const underWay = new Map<string, Promise<readonly ApiObject[]>>();

  async function makeDeployNamespace(namespace: string): Promise<readonly ApiObject[]> {
    const present = await ensureOwn(client, namespace);
    const wanted = policiesOf(namespace, settings, await addresses());
    return [present, ...(await Promise.all(wanted.map((each) => applyObject(client, each))))];
  }
  const ensureDeployNamespace = (namespace: string) => {
    const running = underWay.get(namespace);
    if (running) return running;
    checkTenantName(namespace, settings.ownNamespace);
    const made = guarded(() => makeDeployNamespace(namespace)).finally(() => underWay.delete(namespace));
    underWay.set(namespace, made);
    return made;
  };
  const bound = async ({ metadata: { name, labels } }: ApiObject) => {
    const quota = labels?.[CHILD_LABELS.managedBy] === MANAGED_BY ? objectsQuota(name, settings) : undefined;
    if (quota) await applyObject(client, quota);
  };
  const bind = async (namespace: ApiObject) => {
    const subject = subjectOf(namespace);
    if (subject) await applyObject(client, editorBinding(namespace.metadata.name, subject, settings));
  };

  return {
    async has(namespace) {
      const live = await guarded(() => readNamespace(client, namespace));
      return live !== undefined && !isTerminating(live);
    },
    async ensure(namespace, subject) {
      await ensureDeployNamespace(namespace);
      return guarded(async () => {
        const created = await createObject(client, userNamespace(namespace, subject));
        const live = created ?? (await readNamespace(client, namespace));
        if (!live || isTerminating(live)) throw beingDeleted(namespace);
        await bound(live);
        await bind(live);
        return created ? "created" : "exists";
      });
    },
    // A rejected promise for what is no name, as for everything else.
    ensureDeployNamespace: async (namespace) => ensureDeployNamespace(namespace),
  };
}

/** The deploy namespace with the labels that it should have. */
async function ensureOwn(client: KubernetesClient, namespace: string): Promise<ApiObject> {
  const wanted = deployNamespace(namespace);
  const { name } = wanted.object.metadata;
  const live =
    (await readNamespace(client, name)) ?? (await createObject(client, wanted)) ?? (await readNamespace(client, name));
  if (!live || isTerminating(live)) throw beingDeleted(name);
  if (!isOurs(live, namespace)) throw new SlessError("namespace_not_ours", { namespace: name, tenant: namespace });
  return isAsWanted(wanted, live) ? live : applyObject(client, wanted);
}

/** Whoever may label namespaces may say that one is sless's to use. */
function isOurs({ metadata }: ApiObject, tenant: string): boolean {
  return metadata.labels?.[CHILD_LABELS.managedBy] === MANAGED_BY && metadata.labels[TENANT_LABEL] === tenant;
}

function isTerminating({ metadata, status }: NamespaceObject): boolean {
  return metadata.deletionTimestamp !== undefined || status?.phase === "Terminating";
}

function beingDeleted(name: string): SlessError {
  return new SlessError("being_deleted", { what: `Namespace ${name}` });
}

/** For whom sless made the namespace; undefined for every namespace that it did not make for somebody. */
function subjectOf({ metadata }: ApiObject): TenantSubject | undefined {
  const text = metadata.annotations?.[SUBJECT_ANNOTATION];
  if (text === undefined || metadata.labels?.[CHILD_LABELS.managedBy] !== MANAGED_BY) return undefined;
  try {
    const { kind, name, namespace: of } = JSON.parse(text) as Partial<Record<string, unknown>>;
    if (typeof name !== "string") return undefined;
    if (kind === "User" || kind === "Group") return { kind, name };
    return kind === "ServiceAccount" && typeof of === "string" ? { kind, name, namespace: of } : undefined;
  } catch {
    return undefined;
  }
}

async function guarded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toSlessError(error);
  }
}
