import { isUtf8 } from "node:buffer";
import type { FastifyInstance } from "fastify";
import { messageOf } from "../errors/index.ts";
import { RefusedRequest } from "../writes/index.ts";
import { type BodyLimits, requestBody } from "./request-body.ts";

const TYPES = ["application/json", "application/merge-patch+json"];
const LIMITS: BodyLimits = { what: "The request", maxBytes: 1024 * 1024, idleMs: 10_000, totalMs: 60_000 };

/**
 * Has bodies of the REST API read as JSON: at most 1 MiB within a minute. A body that is optional may be empty and still
 * say that it is JSON; a merge patch is JSON by another name.
 */
export function acceptJson(app: FastifyInstance, limits: BodyLimits = LIMITS): void {
  const parse = app.getDefaultJsonParser("error", "error");
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(TYPES, (request, _payload, done) => {
    textOf(requestBody(request.raw, limits), request.headers["content-encoding"]).then((text) => {
      if (text === "") done(null, undefined);
      else parse(request, text, (error, value) => done(error && unfitJson(text), value));
    }, done);
  });
}

async function textOf(body: AsyncIterable<Uint8Array>, encoding = "identity"): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  if (bytes.length > 0 && encoding.trim().toLowerCase() !== "identity")
    throw refusal("the body is compressed (Content-Encoding); send it as it is");
  // What a decoder puts in the place of bytes that are no text nobody meant to write.
  if (!isUtf8(bytes)) throw refusal("the body is no UTF-8; send JSON in UTF-8");
  return bytes.toString("utf8");
}

/** A text that is JSON all the same is refused for its keys, and told so. */
function unfitJson(body: string): Error {
  try {
    JSON.parse(body);
  } catch (error) {
    // Without the piece of the body that it quotes, which may be a secret.
    return refusal(`the body is no JSON: ${messageOf(error).replace(/, (?:\.\.\.)?".*$/s, "")}`);
  }
  return refusal('the body has a key "__proto__" or "constructor.prototype"; remove it');
}

function refusal(message: string): RefusedRequest {
  return new RefusedRequest("invalid_request", { cause: message }, [{ field: "", message }]);
}
