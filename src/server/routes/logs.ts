import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { refOf, type WorkloadRef } from "../../apis/index.ts";
import { existing, type Named } from "../existing-object.ts";
import { CODE_PLURALS } from "../items.ts";
import { lastLines } from "../last-lines.ts";
import { addRoute } from "../route.ts";
import type { RouteDeps } from "../server-deps.ts";

const TAIL_MAX = 100_000;
const QUERY = {
  type: "object",
  properties: {
    follow: { type: "boolean", default: false },
    build: { type: "boolean", default: false },
    tail: { type: "integer", minimum: 0, maximum: TAIL_MAX },
  },
};
interface LogQuery {
  readonly follow: boolean;
  readonly build: boolean;
  readonly tail?: number;
}

/**
 * Output of a workload as text: of its replicas or, with `?build`, of its last build. `?follow` goes on until the
 * client leaves (a build: until it ends); `?tail=N` begins with the last N lines, but a followed build is told whole.
 */
export function logRoutes(app: FastifyInstance, deps: RouteDeps): void {
  for (const plural of CODE_PLURALS) {
    addRoute(app, `/v1/namespaces/:namespace/${plural}/:name/logs`, {
      GET: {
        schema: { querystring: QUERY },
        head: false,
        handler: async (request, reply) => {
          const object = await existing(plural, request.params as Named, deps);
          return stream(refOf(object), request, reply, deps);
        },
      },
    });
  }
}

async function stream(workload: WorkloadRef, request: FastifyRequest, reply: FastifyReply, deps: RouteDeps) {
  const { raw } = reply;
  const left = new AbortController();
  raw.once("close", () => left.abort());
  const signal = AbortSignal.any([left.signal, deps.closing]);
  const output = outputOf(workload, request.query as LogQuery, signal, deps);
  reply.hijack();
  raw.writeHead(200, { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" });
  raw.flushHeaders();
  try {
    await pipeline(Readable.from(output, { objectMode: false }), raw);
  } catch (error) {
    if (!signal.aborted) deps.log.warn({ ...workload, err: error }, "logs broke off");
  }
}

function outputOf(
  workload: WorkloadRef,
  { follow, build, tail }: LogQuery,
  signal: AbortSignal,
  { platform, builder }: RouteDeps,
): AsyncIterable<Uint8Array> {
  if (!build) return platform.logs(workload, { follow, signal, ...(tail === undefined ? {} : { tailLines: tail }) });
  const output = builder.logs(workload, { follow, signal });
  return tail === undefined || follow ? output : lastLines(output, tail);
}
