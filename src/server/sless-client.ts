import type { AnyObject } from "../apis/index.ts";
import type {
  CodePlural,
  EventItem,
  GarbageReport,
  HeldDeletion,
  ItemOf,
  KeptRevisionItem,
  Plural,
  RepositoryPlanItem,
  SecretItem,
} from "./items.ts";
import type { Patience } from "./patience.ts";

export interface ClientOptions {
  /** Origin of the server, without a final slash. */
  readonly endpoint: string;
  readonly token?: string | undefined;
  /** How long it waits for what; default `WAIT_MS`. */
  readonly waitMs?: Readonly<Record<Patience, number>>;
}

export interface LogQuery {
  readonly namespace: string;
  readonly follow?: boolean;
  /** Output of the last build instead of the replicas'. */
  readonly build?: boolean;
  /** Only the last lines. */
  readonly tail?: number;
  /** Ends the stream without an error. */
  readonly signal?: AbortSignal;
}

export interface InvokeRequest {
  readonly namespace: string;
  readonly body?: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** The function's answer, whatever its status; errors of sless itself carry `"component":"gateway"` in a JSON body. */
export interface InvokeAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: AsyncIterable<Uint8Array>;
}

/**
 * The REST API of a running sless. Names are taken as they are and encoded.
 *
 * @throws SlessError `server_unreachable` when nobody is there, `server_silent` when nobody answers, `server_foreign` when
 *   something else than sless does, `answer_cut` for half an answer; ServerError for every error that sless tells
 */
export interface SlessClient {
  /** All of a namespace, over all pages, sorted by name; results of jobs are cut. */
  list<P extends Plural>(plural: P, options: { namespace: string }): Promise<ItemOf[P][]>;
  get<P extends Plural>(plural: P, name: string, options: { namespace: string }): Promise<ItemOf[P]>;
  /** The whole object as the store has it: apiVersion, kind, metadata, spec, status. */
  getObject(plural: Plural, name: string, options: { namespace: string }): Promise<AnyObject>;
  /** The same of all of a namespace; results of jobs are cut. */
  listObjects(plural: Plural, options: { namespace: string }): Promise<AnyObject[]>;
  /** `body` in the fields of the API, with a name. */
  create<P extends Plural>(plural: P, body: object, options: { namespace: string }): Promise<ItemOf[P]>;
  /** What `body` omits returns to its default; the source stays. */
  replace<P extends Plural>(plural: P, name: string, body: object, options: { namespace: string }): Promise<ItemOf[P]>;
  /** Changes the named fields; null takes a field back to its default. */
  patch<P extends Plural>(plural: P, name: string, body: object, options: { namespace: string }): Promise<ItemOf[P]>;
  /** "terminating": the server accepted it, and still cleans up after the object. */
  delete(plural: Plural, name: string, options: { namespace: string }): Promise<"deleted" | "terminating">;
  /** Makes a zip the source of a workload. */
  upload<P extends CodePlural>(
    plural: P,
    name: string,
    zip: Uint8Array,
    options: { namespace: string },
  ): Promise<ItemOf[P]>;
  /** What served, the newest first. */
  history(plural: "functions" | "services", name: string, options: { namespace: string }): Promise<KeptRevisionItem[]>;
  /** Looks for what nothing refers to any more and, but in a dry run, removes what has been so for long enough. */
  collectGarbage(options: { dryRun: boolean }): Promise<GarbageReport>;
  ensureNamespace(namespace: string): Promise<{ namespace: string; status: "created" | "exists" }>;
  /** The latest of a namespace, oldest first. */
  events(options: { namespace: string }): Promise<EventItem[]>;
  listSecrets(options: { namespace: string }): Promise<SecretItem[]>;
  /** Writes keys, null removes one; with `replace` the keys that are not named go. Makes the secret when it is not there. */
  writeSecret(
    name: string,
    values: Readonly<Record<string, string | null>>,
    options: { namespace: string; replace: boolean },
  ): Promise<SecretItem>;
  deleteSecret(name: string, options: { namespace: string }): Promise<void>;
  plan(repository: string, options: { namespace: string }): Promise<RepositoryPlanItem>;
  /** Asks for a sync now; done once `status.lastHandledReconcileAt` equals `requested_at`. */
  reconcile(repository: string, options: { namespace: string }): Promise<{ requested_at: string }>;
  /** Approves exactly the named deletions, or all that are held now. */
  approve(
    repository: string,
    options: { namespace: string; deletions?: readonly HeldDeletion[] },
  ): Promise<{ approved: HeldDeletion[] }>;
  logs(plural: CodePlural, name: string, query: LogQuery): AsyncIterable<Uint8Array>;
  invoke(plural: "functions" | "services", name: string, request: InvokeRequest): Promise<InvokeAnswer>;
  /** The archive of the present source of a workload, with bytes and modes; for `readArchive`. */
  source(plural: CodePlural, name: string, options: { namespace: string }): Promise<Uint8Array>;
  /** Ends idle connections. */
  close(): Promise<void>;
}
