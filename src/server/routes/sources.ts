import { isUtf8 } from "node:buffer";
import { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type ObjectOf, refOf, refText, sourceDigestOfKey, type WorkloadKind } from "../../apis/index.ts";
import { createSlots } from "../../controller/index.ts";
import { messageOf, SlessError } from "../../errors/index.ts";
import { type OpenArchive, openArchive, type StoredFile, sourceDigest } from "../../source/index.ts";
import { refuseOwned } from "../change-object.ts";
import { etagOf, existing, itemOf, type Named, versionsOf } from "../existing-object.ts";
import { formFile } from "../form-file.ts";
import { CODE_PLURALS, type CodePlural, type SourceFileItem } from "../items.ts";
import { openUploaded } from "../open-uploaded.ts";
import { requestBody } from "../request-body.ts";
import { addRoute } from "../route.ts";
import type { RouteDeps } from "../server-deps.ts";
import { createKeyedSlots } from "../slots.ts";
import { storeUpload, UPLOAD_LIMITS } from "../store-upload.ts";

/** Each holds an archive on the disk, for as long as its client takes to send it: of a namespace only some. */
const RECEIVED_AT_ONCE = { all: 8, perNamespace: 2 };
/** Each inflates and deflates an archive. */
const STORED_AT_ONCE = 4;
const READS_AT_ONCE = 4;
/** Each holds an archive on the disk for as long as its client takes to read it. */
const SENT_AT_ONCE = { perNamespace: 4, withinMs: 600_000 };
const NO_LIMITS = { maxBytes: Number.POSITIVE_INFINITY, maxFiles: Number.POSITIVE_INFINITY };

/**
 * `POST …/upload` of a zip (the body itself, or a file of a form) and `GET …/source`: the files as JSON, or with
 * `Accept: application/zip` the archive with bytes and modes.
 */
export function sourceRoutes(app: FastifyInstance, deps: RouteDeps): void {
  const slots = uploadSlots();
  const reading = createSlots(READS_AT_ONCE);
  const sending = createKeyedSlots(SENT_AT_ONCE.perNamespace);
  void app.register(async (scope) => {
    // Read by us, once it is clear that the archive is wanted, and not beyond its limit.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", (_request, _payload, done) => done(null));
    for (const plural of CODE_PLURALS) {
      const url = `/v1/namespaces/:namespace/${plural}/:name`;
      addRoute(scope, `${url}/upload`, {
        POST: {
          handler: (request, reply) => upload(plural, request, reply, { ...deps, slots }),
        },
      });
      addRoute(scope, `${url}/source`, {
        GET: {
          handler: async (request, reply) => {
            const key = request.params as Named;
            const object = await existing(plural, key, deps);
            return sending.run(key.namespace, async () => {
              const archive = await reading.run(() => openStored(object, goneSignal(reply), deps));
              sendSource(object, archive, request, reply);
              await untilSent(reply, SENT_AT_ONCE.withinMs);
              return reply;
            });
          },
        },
      });
    }
  });
}

interface UploadSlots {
  /** For as long as the archive is received and stored. */
  receive<T>(namespace: string, work: () => Promise<T>): Promise<T>;
  store<T>(work: () => Promise<T>): Promise<T>;
}

function uploadSlots(): UploadSlots {
  const { all, perNamespace } = RECEIVED_AT_ONCE;
  const own = createKeyedSlots(perNamespace);
  const receiving = createSlots(all);
  const storing = createSlots(STORED_AT_ONCE);
  return {
    receive: (namespace, work) => own.run(namespace, () => receiving.run(work)),
    store: (work) => storing.run(work),
  };
}

async function upload(
  plural: CodePlural,
  request: FastifyRequest,
  reply: FastifyReply,
  deps: RouteDeps & { readonly slots: UploadSlots },
) {
  const { slots, uploads } = deps;
  const key = request.params as Named;
  const live = await existing(plural, key, deps);
  await refuseOwned(live, deps);
  const changing = { kind: live.kind, key, expected: versionsOf(request.headers["if-match"]) };
  const store = async (path: string) => {
    const archive = await openUploaded(path);
    return storeUpload(changing, archive.files, deps).finally(archive.close);
  };
  const object = await slots.receive(key.namespace, () =>
    uploads.withFile(zipOf(request), (path) => slots.store(() => store(path))),
  );
  return reply.header("etag", etagOf(object)).send(await itemOf(plural, object as never, deps));
}

/** The body itself, or the file of a form. */
function zipOf({ raw, headers }: FastifyRequest): AsyncIterable<Uint8Array> {
  const body = requestBody(raw, UPLOAD_LIMITS);
  const type = headers["content-type"];
  return type?.startsWith("multipart/form-data") ? formFile(body, type) : body;
}

/** The archive that an object names, on this disk and checked: what is sent of it is whole. */
async function openStored(
  object: ObjectOf<WorkloadKind>,
  signal: AbortSignal,
  { objects, uploads }: RouteDeps,
): Promise<OpenArchive> {
  const ref = refOf(object);
  const key = object.spec.s3Key;
  if (key === undefined) throw new SlessError("not_found", { what: `A source of ${refText(ref)}` });
  const digest = sourceDigestOfKey(ref, key);
  if (digest === undefined) throw new SlessError("forbidden", { what: `The archive that ${refText(ref)} names` });
  const stored = await objects.read(key, { signal });
  if (!stored) throw new SlessError("source_unavailable", { key, cause: "it is not there" });
  const archive = await uploads.withFile(stored.body, (path) =>
    openArchive(path, NO_LIMITS, signal).catch((error: unknown) => {
      signal.throwIfAborted();
      // We stored it ourselves: no request is at fault.
      throw new SlessError("source_unavailable", { key, cause: messageOf(error) }, { cause: error });
    }),
  );
  if (sourceDigest(archive.files) === digest) return archive;
  await archive.close();
  throw new SlessError("source_unavailable", { key, cause: "its files are not those that its name stands for" });
}

/** Aborted when nobody waits for the answer any more, with an error that is nobody's but the client's. */
function goneSignal({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  const abort = () => gone.abort(new SlessError("invalid_request", { cause: "its client went away" }));
  // Whoever had to wait for his turn may have gone.
  if (raw.closed) abort();
  else raw.once("close", abort);
  return gone.signal;
}

/** Resolves when the answer is sent, or nobody waits for it; whoever does not read it within the time has it broken off. */
async function untilSent({ raw }: FastifyReply, withinMs: number): Promise<void> {
  if (raw.closed) return;
  const timer = setTimeout(() => raw.destroy(), withinMs).unref();
  await new Promise<void>((resolve) => raw.once("close", () => resolve()));
  clearTimeout(timer);
}

function sendSource(
  { metadata: { name } }: ObjectOf<WorkloadKind>,
  archive: OpenArchive,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const isZip = accepts(request.headers.accept, "application/zip");
  const body = Readable.from(isZip ? archive.stream() : listed(archive.files), { objectMode: false });
  body.once("close", () => void archive.close());
  void reply.header("vary", "accept").header("x-content-type-options", "nosniff");
  if (!isZip) return reply.type("application/json; charset=utf-8").send(body);
  const file = `attachment; filename="${name}.zip"`;
  return reply
    .type("application/zip")
    .headers({ "content-disposition": file, "content-length": archive.size })
    .send(body);
}

/** Whether a type is named in an Accept header, and not with the weight 0. */
function accepts(header = "", type: string): boolean {
  const ranges = header.split(",").map((range) => range.split(";").map((part) => part.trim().toLowerCase()));
  return ranges.some(([name, ...parameters]) => name === type && !parameters.some((one) => /^q=0(\.0*)?$/.test(one)));
}

/** JSON of all files, of which one is in memory. */
async function* listed(files: readonly StoredFile[]): AsyncGenerator<Uint8Array> {
  let before = "[";
  for (const file of files) {
    yield Buffer.from(before + JSON.stringify(toFileItem(file, await file.read())));
    before = ",";
  }
  yield Buffer.from(files.length === 0 ? "[]" : "]");
}

function toFileItem({ path, mode }: StoredFile, content: Uint8Array): SourceFileItem {
  const isText = isUtf8(content);
  return {
    name: path,
    content: Buffer.from(content).toString(isText ? "utf8" : "base64"),
    ...(!isText && { encoding: "base64" }),
    ...(mode !== "100644" && { mode }),
  };
}
