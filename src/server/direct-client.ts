import type { ObjectOf } from "../apis/index.ts";
import { SlessError } from "../errors/index.ts";
import type { Platform } from "../platform/index.ts";
import type { ResourceStore } from "../resources/index.ts";
import type { LogQuery, SlessClient } from "./client.ts";
import { existing, itemOf, namesIn } from "./existing-object.ts";
import { type EventItem, type ItemOf, PLURALS, type Plural } from "./items.ts";
import { revisionItem, toItem } from "./to-item.ts";

export interface DirectClientDeps {
  readonly store: Pick<ResourceStore, "get" | "list">;
  readonly platform: Pick<Platform, "logs">;
  /** Of a namespace, oldest first. */
  readonly events: (namespace: string) => Promise<readonly EventItem[]>;
  close(): Promise<void>;
}

/**
 * What the REST API tells of objects, read from where they are kept with the rights of whoever asks, so that no server
 * of sless is needed. What the API does beyond reading is refused.
 *
 * @throws SlessError as the store; `usage_invalid` for what is not read but done
 */
export function directClient(deps: DirectClientDeps): SlessClient {
  const { store, events, close } = deps;
  const objects = async <P extends Plural>(plural: P, namespace: string) => {
    const { items } = await store.list(PLURALS[plural], { namespace });
    return items.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  };
  return {
    ...refusing(),
    async list(plural, { namespace }) {
      const [items, names] = await Promise.all([objects(plural, namespace), namesIn(namespace, deps)]);
      return items.map((object) => toItem(plural, object as never, names)) as ItemOf[typeof plural][];
    },
    listObjects: async (plural, { namespace }) => (await objects(plural, namespace)) as never,
    get: async (plural, name, { namespace }) => itemOf(plural, await existing(plural, { namespace, name }, deps), deps),
    getObject: async (plural, name, { namespace }) =>
      (await existing(plural, { namespace, name }, deps)) as ObjectOf<never>,
    async history(plural, name, { namespace }) {
      const { status } = await existing(plural, { namespace, name }, deps);
      const unknown = { source_present: undefined, image_present: undefined };
      return (status?.history ?? []).map((one) => ({ ...revisionItem(one), ...unknown }));
    },
    events: async ({ namespace }) => [...(await events(namespace))],
    logs: (plural, name, query) => readLogs(PLURALS[plural], name, query, deps),
    close,
  };
}

async function* readLogs(
  kind: "Function" | "Service" | "FunctionJob",
  name: string,
  { namespace, follow = false, build = false, tail, signal }: LogQuery,
  { platform }: DirectClientDeps,
): AsyncGenerator<Uint8Array> {
  if (build) throw refusal("the output of builds is read", "logs");
  const ending = signal ?? new AbortController().signal;
  const options = { follow, signal: ending, ...(tail === undefined ? {} : { tailLines: tail }) };
  yield* platform.logs({ kind, namespace, name }, options);
}

function refusal(what: string, verb: string): SlessError {
  const cause = `${what} through sless's API alone: name it with --endpoint instead of --kubeconfig and --context`;
  return new SlessError("usage_invalid", { cause, verb });
}

type Reads = "list" | "listObjects" | "get" | "getObject" | "history" | "events" | "logs" | "close";

function refusing(): Omit<SlessClient, Reads> {
  const refuse = async () => {
    throw refusal("this is done", "get");
  };
  return {
    create: refuse,
    replace: refuse,
    patch: refuse,
    delete: refuse,
    upload: refuse,
    collectGarbage: refuse,
    ensureNamespace: refuse,
    listSecrets: refuse,
    writeSecret: refuse,
    deleteSecret: refuse,
    plan: refuse,
    reconcile: refuse,
    approve: refuse,
    invoke: refuse,
    source: refuse,
  };
}
