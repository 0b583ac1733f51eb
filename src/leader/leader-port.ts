import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createInternalPort, type InternalPort, type InternalPortDeps } from "../auth/index.ts";
import type { TimerClock } from "../controller/clock.ts";
import { isSlessError, messageOf, SlessError } from "../errors/index.ts";
import type { Leader } from "./leader.ts";
import { BEAT_MS, type LeaderQuestion, questionOf } from "./leader-protocol.ts";

export interface LeaderPortDeps extends Pick<InternalPortDeps, "authenticate" | "callers" | "log"> {
  /** Undefined while another process leads. */
  readonly leader: () => Leader | undefined;
  readonly clock: TimerClock;
}

/** The controller's port for the api: every controller has one, and who leads answers there. */
export function createLeaderPort(deps: LeaderPortDeps): InternalPort {
  const closing = new AbortController();
  const port = createInternalPort({
    ...deps,
    name: "The internal port of the controller",
    async serve(req, res) {
      const question = questionOf(req.method, req.url ?? "");
      if (!question) throw new SlessError("not_found", { what: "An address that asks the leader nothing" });
      const leader = deps.leader();
      if (!leader) throw new SlessError("controller_unreachable", { cause: "it does not lead any more" });
      await answer(question, leader, res, { ...deps, closing: closing.signal });
    },
    refuse(_req, res, error) {
      if (res.headersSent) res.destroy();
      else sendJson(res, error.status, { error: told(error) });
    },
  });
  return {
    listen: port.listen,
    close(timeoutMs) {
      closing.abort();
      return port.close(timeoutMs);
    },
  };
}

type Answering = Pick<LeaderPortDeps, "clock" | "log"> & { readonly closing: AbortSignal };

async function answer(question: LeaderQuestion, leader: Leader, res: ServerResponse, context: Answering) {
  switch (question.asks) {
    case "place":
      return sendPlace(question, leader, res);
    case "build-logs":
      return sendLog(question, leader, res, context);
    case "garbage":
      return sendReport(question, leader, res, context);
  }
}

async function sendPlace(
  { object, repository }: Extract<LeaderQuestion, { asks: "place" }>,
  leader: Leader,
  res: ServerResponse,
): Promise<void> {
  const place = await leader.placeOf(object, { namespace: object.namespace, name: repository });
  sendJson(res, 200, { place });
}

async function sendLog(
  { workload, follow }: Extract<LeaderQuestion, { asks: "build-logs" }>,
  leader: Leader,
  res: ServerResponse,
  { closing, log }: Answering,
): Promise<void> {
  const left = new AbortController();
  res.once("close", () => left.abort());
  const signal = AbortSignal.any([left.signal, closing]);
  res.writeHead(200, { "content-type": "text/plain; charset=utf-8" }).flushHeaders();
  try {
    await pipeline(Readable.from(leader.buildLogs(workload, { follow, signal }), { objectMode: false }), res);
  } catch (error) {
    if (!signal.aborted) log.warn({ ...workload, err: messageOf(error) }, "output of a build broke off");
    res.destroy();
  }
}

/** It may take minutes: line breaks, which JSON does not mind, show that somebody is still there. */
async function sendReport(
  { dryRun }: Extract<LeaderQuestion, { asks: "garbage" }>,
  leader: Leader,
  res: ServerResponse,
  { clock, log }: Answering,
): Promise<void> {
  res.writeHead(200, { "content-type": "application/json" }).flushHeaders();
  const beat = () => {
    // The run goes on, whoever waits for its report.
    if (!res.destroyed) res.write("\n");
    cancel = clock.setTimer(BEAT_MS, beat);
  };
  let cancel = clock.setTimer(BEAT_MS, beat);
  try {
    const report = await leader.collectGarbage({ dryRun });
    res.end(JSON.stringify({ report }));
  } catch (error) {
    if (!isSlessError(error)) log.warn({ err: messageOf(error) }, "garbage not collected");
    res.end(JSON.stringify({ error: told(error) }));
  } finally {
    cancel();
  }
}

function sendJson(res: ServerResponse, status: number, body: object): void {
  res.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

function told(error: unknown): Pick<SlessError, "code" | "details"> {
  const { code, details } = isSlessError(error)
    ? error
    : new SlessError("internal", { cause: "an unexpected error of the controller" });
  return { code, details };
}
