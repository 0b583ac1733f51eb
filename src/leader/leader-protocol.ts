import {
  isNamespaceName,
  isObjectName,
  KIND_NAMES,
  type Kind,
  type ObjectRef,
  WORKLOAD_KINDS,
  type WorkloadKind,
  type WorkloadRef,
} from "../apis/index.ts";

/**
 * How other parts of sless ask the leader, with `CALLER_TOKEN_HEADER` in every request:
 *
 * - `GET /places/{repository}/{kind}/{namespace}/{name}`, of the same namespace: `{"place": {"file", "line"}}`, without
 *   `place` where it is not known
 * - `GET /build-logs/{kind}/{namespace}/{name}[?follow=true]`: text
 * - `POST /garbage[?dry_run=true]`: line breaks while it works, then `{"report"}` or `{"error": {"code", "details"}}`
 *
 * A refusal has the status of its error and `{"error": {"code", "details"}}`.
 */
export type LeaderQuestion =
  | { readonly asks: "place"; readonly object: ObjectRef; readonly repository: string }
  | { readonly asks: "build-logs"; readonly workload: WorkloadRef; readonly follow: boolean }
  | { readonly asks: "garbage"; readonly dryRun: boolean };

/** So often the leader shows that it still works on an answer. */
export const BEAT_MS = 5_000;

const PLACE = /^\/places\/([a-z0-9-]+)\/([A-Za-z]+)\/([a-z0-9-]+)\/([a-z0-9-]+)$/;
const BUILD_LOGS = /^\/build-logs\/([A-Za-z]+)\/([a-z0-9-]+)\/([a-z0-9-]+)(\?follow=true)?$/;

/** Method and target of the request that asks it. Pure. */
export function requestOf(question: LeaderQuestion): { readonly method: "GET" | "POST"; readonly path: string } {
  switch (question.asks) {
    case "place":
      return { method: "GET", path: `/places/${encodeURIComponent(question.repository)}/${pathOf(question.object)}` };
    case "build-logs":
      return {
        method: "GET",
        path: `/build-logs/${pathOf(question.workload)}${question.follow ? "?follow=true" : ""}`,
      };
    case "garbage":
      return { method: "POST", path: `/garbage${question.dryRun ? "?dry_run=true" : ""}` };
  }
}

/** The reverse of `requestOf`; undefined for all else. Nothing is decoded. Pure. */
export function questionOf(method: string | undefined, target: string): LeaderQuestion | undefined {
  if (method === "POST") {
    if (target === "/garbage") return { asks: "garbage", dryRun: false };
    return target === "/garbage?dry_run=true" ? { asks: "garbage", dryRun: true } : undefined;
  }
  return method === "GET" ? (placeIn(target) ?? buildLogsIn(target)) : undefined;
}

function placeIn(target: string): LeaderQuestion | undefined {
  const [, repository = "", kind = "", namespace = "", name = ""] = PLACE.exec(target) ?? [];
  if (!isOneOf(KIND_NAMES, kind) || !isNamespaceName(namespace) || !isObjectName(name) || !isObjectName(repository))
    return undefined;
  return { asks: "place", object: { kind, namespace, name }, repository };
}

function buildLogsIn(target: string): LeaderQuestion | undefined {
  const [, kind = "", namespace = "", name = "", follow] = BUILD_LOGS.exec(target) ?? [];
  if (!isOneOf(WORKLOAD_KINDS, kind) || !isNamespaceName(namespace) || !isObjectName(name)) return undefined;
  return { asks: "build-logs", workload: { kind, namespace, name }, follow: follow !== undefined };
}

function pathOf({ kind, namespace, name }: ObjectRef): string {
  return [kind, namespace, name].map(encodeURIComponent).join("/");
}

function isOneOf<T extends Kind | WorkloadKind>(kinds: readonly T[], kind: string): kind is T {
  return kinds.includes(kind as T);
}
