import { Agent } from "undici";
import { SlessError } from "../errors/index.ts";
import {
  type Answer,
  bodyOf,
  checked,
  doneOf,
  isWholeObject,
  jsonOf,
  type Shape,
  withLists,
  withText,
} from "./client-answers.ts";
import { type Call, type Send, sender } from "./client-call.ts";
import type { HeldDeletion, Plural } from "./items.ts";
import type { ClientOptions, InvokeAnswer, InvokeRequest, LogQuery, SlessClient } from "./sless-client.ts";

export { ServerError } from "./client-answers.ts";
export type * from "./items.ts";
export { isMessageTruncated } from "./listed-status.ts";
export type * from "./sless-client.ts";

/** A client that keeps its connections for the next call. */
export function createClient(options: ClientOptions): SlessClient {
  const agent = new Agent();
  const send = sender(options, agent);
  return {
    list: (plural, { namespace }) => listAll(send, collection(namespace, plural), ""),
    listObjects: (plural, { namespace }) => listAll(send, collection(namespace, plural), "output=object"),
    get: async (plural, name, { namespace }) => item(await send(getCall(member(namespace, plural, name)))),
    getObject: async (plural, name, { namespace }) =>
      jsonOf(await send(getCall(`${member(namespace, plural, name)}?output=object`)), isWholeObject),
    create: async (plural, body, { namespace }) =>
      item(await send(bodyCall("POST", collection(namespace, plural), body))),
    replace: async (plural, name, body, { namespace }) =>
      item(await send(bodyCall("PUT", member(namespace, plural, name), body))),
    patch: async (plural, name, body, { namespace }) =>
      item(await send(bodyCall("PATCH", member(namespace, plural, name), body))),
    async delete(plural, name, { namespace }) {
      const answer = await send({ method: "DELETE", path: member(namespace, plural, name) });
      await doneOf(answer, [202, 204]);
      return answer.statusCode === 202 ? "terminating" : "deleted";
    },
    upload: async (plural, name, zip, { namespace }) =>
      item(await send(zipCall(`${member(namespace, plural, name)}/upload`, zip))),
    history: async (plural, name, { namespace }) =>
      itemsOf(await send(lookingThrough(`${member(namespace, plural, name)}/history`))),
    collectGarbage: async ({ dryRun }) => jsonOf(await send(postCall(`/v1/gc?dry_run=${dryRun}`)), isGarbageReport),
    ensureNamespace: async (namespace) =>
      jsonOf(await send(noting(collection(namespace, "ensure"))), withText("namespace")),
    events: async ({ namespace }) => itemsOf(await send(getCall(collection(namespace, "events")))),
    listSecrets: async ({ namespace }) => itemsOf(await send(getCall(collection(namespace, "secrets")))),
    writeSecret: async (name, values, { namespace, replace }) =>
      jsonOf(
        await send(bodyCall(replace ? "PUT" : "PATCH", member(namespace, "secrets", name), { values })),
        withLists("keys"),
      ),
    deleteSecret: async (name, { namespace }) =>
      doneOf(await send({ method: "DELETE", path: member(namespace, "secrets", name) }), [204]),
    plan: async (name, { namespace }) =>
      jsonOf(await send(getCall(`${member(namespace, "repositories", name)}/plan`)), withLists("held")),
    reconcile: async (name, { namespace }) =>
      jsonOf(await send(noting(`${member(namespace, "repositories", name)}/reconcile`)), withText("requested_at")),
    async approve(name, { namespace, deletions }) {
      const approved: HeldDeletion[] = [];
      const path = `${member(namespace, "repositories", name)}/approve`;
      const bodies = deletions ? chunksOf(deletions).map((some) => ({ deletions: some })) : [undefined];
      for (const body of bodies) {
        const answer = await send(postCall(path, body));
        const told = await jsonOf<{ approved: HeldDeletion[] }>(answer, withLists("approved"));
        approved.push(...told.approved);
      }
      return { approved };
    },
    logs: (plural, name, query) => readLogs(send, member(query.namespace, plural, name), query),
    invoke: (plural, name, request) => invoke(send, `${member(request.namespace, plural, name)}/invoke`, request),
    source: async (plural, name, { namespace }) =>
      archiveOf(
        await send({ ...lookingThrough(`${member(namespace, plural, name)}/source`), headers: { accept: ZIP } }),
      ),
    close: () => agent.close(),
  };
}

/** So many are far below what the server takes in one request. */
const DELETIONS_PER_REQUEST = 2_000;

function chunksOf(deletions: readonly HeldDeletion[]): (readonly HeldDeletion[])[] {
  const count = Math.max(1, Math.ceil(deletions.length / DELETIONS_PER_REQUEST));
  return Array.from({ length: count }, (_, n) =>
    deletions.slice(n * DELETIONS_PER_REQUEST, (n + 1) * DELETIONS_PER_REQUEST),
  );
}

/** What a namespace holds, in its path. */
type Collection = Plural | "ensure" | "events" | "secrets";

const collection = (namespace: string, plural: Collection) =>
  `/v1/namespaces/${encodeURIComponent(namespace)}/${plural}`;
const member = (namespace: string, plural: Collection, name: string) =>
  `${collection(namespace, plural)}/${encodeURIComponent(name)}`;
const getCall = (path: string): Call => ({ method: "GET", path });
/** Read from stores, whose own limits may run out before the answer comes. */
const lookingThrough = (path: string): Call => ({ ...getCall(path), patience: "long" });
/** Asks for what is done later. */
const noting = (path: string): Call => ({ method: "POST", path, patience: "brief" });

function postCall(path: string, body?: unknown): Call {
  return body === undefined ? { method: "POST", path } : bodyCall("POST", path, body);
}

function bodyCall(method: Call["method"], path: string, body: unknown): Call {
  return { method, path, body: JSON.stringify(body), headers: { "content-type": "application/json" } };
}

/** An object in the fields of the API. */
const item = <T>(answer: Answer): Promise<T> => jsonOf(answer, withText("name"));

const isGarbageReport: Shape = ({ dry_run }) => typeof dry_run === "boolean";

const ZIP = "application/zip";
/** Far more than a server takes as a source. */
const ARCHIVE_MAX_BYTES = 512 << 20;

function zipCall(path: string, zip: Uint8Array): Call {
  return { method: "POST", path, body: zip, headers: { "content-type": ZIP } };
}

async function archiveOf(answer: Answer): Promise<Uint8Array> {
  await checked(answer, answer.statusCode < 300 && contentTypeOf(answer) === ZIP);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of bodyOf(answer)) {
    size += chunk.length;
    if (size > ARCHIVE_MAX_BYTES)
      throw new SlessError("too_large", { what: "The archive", limit: `${ARCHIVE_MAX_BYTES} bytes` });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Without its parameters. */
function contentTypeOf({ headers }: Answer): string | undefined {
  return String(headers["content-type"] ?? "").split(";")[0];
}

async function itemsOf<T>(answer: Answer): Promise<T[]> {
  return (await jsonOf<{ items: T[] }>(answer, withLists("items"))).items;
}

async function listAll<T>(send: Send, path: string, query: string): Promise<T[]> {
  const items: T[] = [];
  let next: string | undefined;
  do {
    const search = [query, next && `continue=${encodeURIComponent(next)}`].filter(Boolean).join("&");
    const answer = await send(getCall(search ? `${path}?${search}` : path));
    const page = await jsonOf<{ items: T[]; next?: string }>(answer, withLists("items"));
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
    const call = getCall(`${path}/logs?${search}`);
    const answer = await send({ ...call, signal: query.signal, patience: "endless" });
    await checked(answer, answer.statusCode < 300 && contentTypeOf(answer) === "text/plain");
    yield* bodyOf(answer, query.signal);
  } catch (error) {
    if (!query.signal?.aborted) throw error;
  }
}

async function invoke(send: Send, path: string, request: InvokeRequest): Promise<InvokeAnswer> {
  const { body, headers = {}, signal } = request;
  const call: Call = { method: "POST", path, headers, signal, patience: "endless" };
  const answer = await send(body === undefined ? call : { ...call, body });
  // The gateway, through which every call goes, names it.
  await checked(answer, answer.headers["x-request-id"] !== undefined);
  return { status: answer.statusCode, headers: answer.headers, body: bodyOf(answer, signal) };
}
