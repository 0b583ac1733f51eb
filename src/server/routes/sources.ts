import { isUtf8 } from "node:buffer";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type ObjectOf, refOf, refText, sourceDigestOfKey, type WorkloadKind } from "../../apis/index.ts";
import { createSlots } from "../../controller/index.ts";
import { messageOf, SlessError } from "../../errors/index.ts";
import { type ArchiveFile, readArchive } from "../../source/index.ts";
import { refuseOwned } from "../change-object.ts";
import { etagOf, existing, itemOf, type Named, versionsOf } from "../existing-object.ts";
import { formFile } from "../form-file.ts";
import type { SourceFileItem } from "../items.ts";
import { requestBody } from "../request-body.ts";
import { addRoute } from "../route.ts";
import type { RouteDeps } from "../server-deps.ts";
import { openUpload, storeUpload, UPLOAD_LIMITS } from "../store-upload.ts";

/** Each holds an archive on the disk, and inflates and deflates it. */
const UPLOADS_AT_ONCE = 4;

/**
 * `POST …/upload` of a zip (the body itself, or a file of a form) and `GET …/source`: the files as JSON, or with
 * `Accept: application/zip` the archive with bytes and modes.
 */
export function sourceRoutes(app: FastifyInstance, deps: RouteDeps): void {
  const slots = createSlots(UPLOADS_AT_ONCE);
  void app.register(async (scope) => {
    // Read by us, once it is clear that the archive is wanted, and not beyond its limit.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", (_request, _payload, done) => done(null));
    for (const plural of ["functions", "services", "jobs"] as const) {
      const url = `/v1/namespaces/:namespace/${plural}/:name`;
      addRoute(scope, `${url}/upload`, {
        POST: {
          handler: (request, reply) => slots.run(() => upload(plural, request, reply, deps)),
        },
      });
      addRoute(scope, `${url}/source`, {
        GET: {
          handler: async (request, reply) =>
            sendSource(await existing(plural, request.params as Named, deps), request, reply, deps),
        },
      });
    }
  });
}

type CodePlural = "functions" | "services" | "jobs";

async function upload(plural: CodePlural, request: FastifyRequest, reply: FastifyReply, deps: RouteDeps) {
  const key = request.params as Named;
  const live = await existing(plural, key, deps);
  await refuseOwned(live, deps);
  const changing = { kind: live.kind, key, expected: versionsOf(request.headers["if-match"]) };
  const object = await deps.uploads.withFile(zipOf(request), async (path) => {
    const archive = await openUpload(path);
    return storeUpload(changing, archive.files, deps).finally(archive.close);
  });
  return reply.header("etag", etagOf(object)).send(await itemOf(plural, object as never, deps));
}

/** The body itself, or the file of a form. */
function zipOf({ raw, headers }: FastifyRequest): AsyncIterable<Uint8Array> {
  const body = requestBody(raw, UPLOAD_LIMITS);
  const type = headers["content-type"];
  return type?.startsWith("multipart/form-data") ? formFile(body, type) : body;
}

async function sendSource(
  object: ObjectOf<WorkloadKind>,
  request: FastifyRequest,
  reply: FastifyReply,
  { objects }: RouteDeps,
) {
  const ref = refOf(object);
  const key = object.spec.s3Key;
  if (key === undefined) throw new SlessError("not_found", { what: `A source of ${refText(ref)}` });
  const digest = sourceDigestOfKey(ref, key);
  if (digest === undefined) throw new SlessError("forbidden", { what: `The archive that ${refText(ref)} names` });
  const bytes = await objects.get(key);
  if (!bytes) throw new SlessError("source_unavailable", { key, cause: "it is not there" });
  void reply.header("vary", "accept").header("x-content-type-options", "nosniff");
  if (request.headers.accept?.includes("application/zip")) {
    const file = `attachment; filename="${object.metadata.name}.zip"`;
    return reply.type("application/zip").header("content-disposition", file).send(Buffer.from(bytes));
  }
  return reply.send((await filesOf(bytes, key)).map(toFileItem));
}

async function filesOf(bytes: Uint8Array, key: string): Promise<ArchiveFile[]> {
  try {
    return await readArchive(bytes, { maxBytes: Number.POSITIVE_INFINITY, maxFiles: Number.POSITIVE_INFINITY });
  } catch (error) {
    // We stored it ourselves: no request is at fault.
    throw new SlessError("source_unavailable", { key, cause: messageOf(error) }, { cause: error });
  }
}

function toFileItem({ path, mode, content }: ArchiveFile): SourceFileItem {
  const isText = isUtf8(content);
  return {
    name: path,
    content: Buffer.from(content).toString(isText ? "utf8" : "base64"),
    ...(!isText && { encoding: "base64" }),
    ...(mode !== "100644" && { mode }),
  };
}
