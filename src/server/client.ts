import { Agent, type Dispatcher } from "undici";
import type { AnyObject } from "../apis/index.ts";
import { messageOf, SlessError } from "../errors/index.ts";
import type {
  EventItem,
  GarbageReport,
  HeldDeletion,
  ItemOf,
  KeptRevisionItem,
  Plural,
  RepositoryPlanItem,
  SecretItem,
} from "./items.ts";

export type * from "./items.ts";
export { isMessageTruncated } from "./listed-status.ts";

export interface ClientOptions {
  /** Origin of the server, without a final slash. */
  readonly endpoint: string;
  readonly token?: string | undefined;
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

type CodePlural = "functions" | "services" | "jobs";

/**
 * The REST API of a running sless. Names are taken as they are and encoded.
 *
 * @throws SlessError `server_unreachable` when nobody answers; ServerError for every answer that is an error
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
  source(plural: "functions" | "services" | "jobs", name: string, options: { namespace: string }): Promise<Uint8Array>;
  /** Ends idle connections. */
  close(): Promise<void>;
}

/** An error that the server told: `code`, `status` and `details` as in its JSON body. */
export class ServerError extends Error {
  readonly code: string;
  readonly status: number;
  readonly details: readonly unknown[];

  constructor(status: number, body: { error: string; code: string; details?: readonly unknown[] | undefined }) {
    super(body.error);
    this.name = "ServerError";
    this.status = status;
    this.code = body.code;
    this.details = body.details ?? [];
  }
}

interface Call {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly body?: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}
type Send = (call: Call) => Promise<Dispatcher.ResponseData>;

/** A client that keeps its connections for the next call. */
export function createClient(options: ClientOptions): SlessClient {
  // A followed log or a function without a time limit may be silent for long.
  const agent = new Agent({ headersTimeout: 0, bodyTimeout: 0 });
  const send = sender(options, agent);
  return {
    list: (plural, { namespace }) => listAll(send, collection(namespace, plural), ""),
    listObjects: (plural, { namespace }) => listAll(send, collection(namespace, plural), "output=object"),
    get: async (plural, name, { namespace }) => json(await send(getCall(member(namespace, plural, name)))),
    getObject: async (plural, name, { namespace }) =>
      json(await send(getCall(`${member(namespace, plural, name)}?output=object`))),
    create: async (plural, body, { namespace }) =>
      json(await send(bodyCall("POST", collection(namespace, plural), body))),
    replace: async (plural, name, body, { namespace }) =>
      json(await send(bodyCall("PUT", member(namespace, plural, name), body))),
    patch: async (plural, name, body, { namespace }) =>
      json(await send(bodyCall("PATCH", member(namespace, plural, name), body))),
    async delete(plural, name, { namespace }) {
      const response = await send({ method: "DELETE", path: member(namespace, plural, name) });
      await done(response);
      return response.statusCode === 202 ? "terminating" : "deleted";
    },
    upload: async (plural, name, zip, { namespace }) =>
      json(await send(zipCall(`${member(namespace, plural, name)}/upload`, zip))),
    history: async (plural, name, { namespace }) =>
      itemsOf(await send(getCall(`${member(namespace, plural, name)}/history`))),
    collectGarbage: async ({ dryRun }) => json(await send(postCall(`/v1/gc?dry_run=${dryRun}`))),
    ensureNamespace: async (namespace) => json(await send(postCall(collection(namespace, "ensure")))),
    events: async ({ namespace }) => itemsOf(await send(getCall(collection(namespace, "events")))),
    listSecrets: async ({ namespace }) => itemsOf(await send(getCall(collection(namespace, "secrets")))),
    writeSecret: async (name, values, { namespace, replace }) =>
      json(await send(bodyCall(replace ? "PUT" : "PATCH", member(namespace, "secrets", name), { values }))),
    deleteSecret: async (name, { namespace }) =>
      void (await done(await send({ method: "DELETE", path: member(namespace, "secrets", name) }))),
    plan: async (name, { namespace }) => json(await send(getCall(`${member(namespace, "repositories", name)}/plan`))),
    reconcile: async (name, { namespace }) =>
      json(await send(postCall(`${member(namespace, "repositories", name)}/reconcile`))),
    approve: async (name, { namespace, deletions }) =>
      json(await send(postCall(`${member(namespace, "repositories", name)}/approve`, deletions && { deletions }))),
    logs: (plural, name, query) => readLogs(send, member(query.namespace, plural, name), query),
    invoke: (plural, name, request) => invoke(send, `${member(request.namespace, plural, name)}/invoke`, request),
    source: async (plural, name, { namespace }) =>
      archiveOf(await send({ ...getCall(`${member(namespace, plural, name)}/source`), headers: { accept: ZIP } })),
    close: () => agent.close(),
  };
}

function sender({ endpoint, token }: ClientOptions, dispatcher: Dispatcher): Send {
  return async ({ method, path, body, headers = {}, signal }) => {
    try {
      return await dispatcher.request({
        origin: endpoint,
        path,
        method,
        body: body ?? null,
        headers: { ...headers, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
        ...(signal ? { signal } : {}),
      });
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new SlessError("server_unreachable", { endpoint, cause: causeOf(error) }, { cause: error });
    }
  };
}

/** The message of a refused connection is empty when several addresses were tried. */
function causeOf(error: unknown): string {
  const code = (error as { code?: unknown }).code;
  return messageOf(error) || (typeof code === "string" ? code : "no answer");
}

/** What a namespace holds, in its path. */
type Collection = Plural | "ensure" | "events" | "secrets";

const collection = (namespace: string, plural: Collection) =>
  `/v1/namespaces/${encodeURIComponent(namespace)}/${plural}`;
const member = (namespace: string, plural: Collection, name: string) =>
  `${collection(namespace, plural)}/${encodeURIComponent(name)}`;
const getCall = (path: string): Call => ({ method: "GET", path });

function postCall(path: string, body?: unknown): Call {
  return body === undefined ? { method: "POST", path } : bodyCall("POST", path, body);
}

function bodyCall(method: Call["method"], path: string, body: unknown): Call {
  return { method, path, body: JSON.stringify(body), headers: { "content-type": "application/json" } };
}

async function json<T>(response: Dispatcher.ResponseData): Promise<T> {
  if (response.statusCode >= 400) throw await toServerError(response);
  return (await response.body.json()) as T;
}

/** An answer of which only the status counts. */
async function done(response: Dispatcher.ResponseData): Promise<void> {
  if (response.statusCode >= 400) throw await toServerError(response);
  await response.body.dump();
}

const ZIP = "application/zip";
/** Far more than a server takes as a source. */
const ARCHIVE_MAX_BYTES = 512 << 20;

function zipCall(path: string, zip: Uint8Array): Call {
  return { method: "POST", path, body: zip, headers: { "content-type": ZIP } };
}

async function archiveOf(response: Dispatcher.ResponseData): Promise<Uint8Array> {
  if (response.statusCode >= 400) throw await toServerError(response);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > ARCHIVE_MAX_BYTES)
      throw new SlessError("too_large", { what: "The archive", limit: `${ARCHIVE_MAX_BYTES} bytes` });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function itemsOf<T>(response: Dispatcher.ResponseData): Promise<T[]> {
  return (await json<{ items: T[] }>(response)).items;
}

async function toServerError({ statusCode, body }: Dispatcher.ResponseData): Promise<ServerError> {
  const text = await body.text();
  try {
    const told = JSON.parse(text) as { error?: unknown; code?: unknown; details?: readonly unknown[] };
    if (typeof told.error === "string" && typeof told.code === "string")
      return new ServerError(statusCode, { error: told.error, code: told.code, details: told.details });
  } catch {
    // No JSON: something else than sless answers there.
  }
  const error = `The server answered ${statusCode} without a reason: ${text.slice(0, 200)}`;
  return new ServerError(statusCode, { error, code: "unknown" });
}

async function listAll<T>(send: Send, path: string, query: string): Promise<T[]> {
  const items: T[] = [];
  let next: string | undefined;
  do {
    const search = [query, next && `continue=${encodeURIComponent(next)}`].filter(Boolean).join("&");
    const page = await json<{ items: T[]; next?: string }>(await send(getCall(search ? `${path}?${search}` : path)));
    items.push(...page.items);
    next = page.next;
  } while (next);
  return items;
}

async function* readLogs(send: Send, path: string, query: LogQuery): AsyncGenerator<Uint8Array> {
  const search = new URLSearchParams();
  if (query.follow) search.set("follow", "true");
  if (query.build) search.set("build", "true");
  if (query.tail !== undefined) search.set("tail", String(query.tail));
  try {
    const response = await send({ ...getCall(`${path}/logs?${search}`), signal: query.signal });
    if (response.statusCode >= 400) throw await toServerError(response);
    yield* response.body;
  } catch (error) {
    if (!query.signal?.aborted) throw error;
  }
}

async function invoke(send: Send, path: string, request: InvokeRequest): Promise<InvokeAnswer> {
  const { body, headers = {}, signal } = request;
  const response = await send({ method: "POST", path, headers, signal, ...(body === undefined ? {} : { body }) });
  return { status: response.statusCode, headers: response.headers, body: response.body };
}
