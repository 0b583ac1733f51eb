import { createHash } from "node:crypto";
import { API_VERSION } from "../apis/index.ts";
import { redactUrls } from "../errors/index.ts";
import type { ApiObject } from "../kubernetes/index.ts";
import type { EventNews } from "../report/index.ts";

/** What tools filter by; also what stands in the column "From" of `kubectl describe`. */
export const COMPONENT = "sless";
const MESSAGE_MAX = 1_000;
const REASON_MAX = 128;

/**
 * Event of core/v1, which every tool shows with its count and last time: https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/
 */
export interface CoreEvent extends ApiObject {
  readonly type?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly involvedObject: {
    readonly apiVersion?: string;
    readonly kind?: string;
    readonly namespace?: string;
    readonly name?: string;
    readonly uid?: string;
  };
  readonly count?: number;
  readonly firstTimestamp?: string | null;
  readonly lastTimestamp?: string | null;
  readonly source?: { readonly component?: string };
  readonly reportingComponent?: string;
  readonly reportingInstance?: string;
}

/**
 * The Event that tells news, for the first time. The same news of the same object have the same name, so that no
 * process needs to remember what others told. Pure.
 *
 * @param uid of the object, which `kubectl describe` looks for; undefined when it is not known any more
 */
export function coreEvent(news: EventNews, uid: string | undefined, told: { instance: string; now: Date }): CoreEvent {
  const { kind, namespace, name } = news.object;
  const reason = camelCase(news.reason);
  const message = shown(news.message);
  const time = `${told.now.toISOString().slice(0, 19)}Z`;
  const hash = createHash("sha256").update(JSON.stringify([kind, uid, news.type, reason, message]));
  return {
    apiVersion: "v1",
    kind: "Event",
    metadata: { name: `${name}.${hash.digest("hex").slice(0, 16)}`, namespace },
    involvedObject: { apiVersion: API_VERSION, kind, namespace, name, ...(uid !== undefined && { uid }) },
    type: news.type,
    reason,
    message,
    count: 1,
    firstTimestamp: time,
    lastTimestamp: time,
    source: { component: COMPONENT },
    reportingComponent: COMPONENT,
    reportingInstance: told.instance,
  };
}

function camelCase(reason: string): string {
  const text = reason.replace(/[^A-Za-z0-9]/g, "").slice(0, REASON_MAX);
  return text === "" ? "Unknown" : `${text[0]!.toUpperCase()}${text.slice(1)}`;
}

function shown(message: string): string {
  return redactUrls(message).slice(0, MESSAGE_MAX).toWellFormed();
}
