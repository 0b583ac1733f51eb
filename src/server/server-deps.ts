import type { IncomingHttpHeaders } from "node:http";
import type { Logger } from "pino";
import type { ObjectKey, ObjectRef } from "../apis/index.ts";
import type { Access } from "../auth/index.ts";
import type { Builder } from "../build/index.ts";
import type { Clock } from "../controller/index.ts";
import type { GarbageReport } from "../garbage/index.ts";
import type { Gateway } from "../gateway/index.ts";
import type { Hooks } from "../hooks/index.ts";
import type { Platform } from "../platform/index.ts";
import type { Reporter } from "../report/index.ts";
import type { ResourceStore } from "../resources/index.ts";
import type { Runtime } from "../runtimes/index.ts";
import type { ObjectStore } from "../storage/index.ts";
import type { ManifestPlace } from "../writes/index.ts";
import type { EventList } from "./event-ring.ts";
import type { Identity } from "./items.ts";
import type { Metrics } from "./metrics.ts";
import type { Namespaces } from "./namespaces.ts";
import type { RequestGuard } from "./request-guard.ts";
import type { SecretStore } from "./secret-store.ts";
import type { UploadFolder } from "./upload-folder.ts";

/** Whether one part of the server can do its work: undefined, or why not. */
export type ReadinessCheck = () => string | undefined | Promise<string | undefined>;

export interface ApiRequest {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  /** What it is about to do: all of it must be allowed. Nothing: whoever is known may. */
  readonly access: readonly Access[];
}

export interface ServerDeps {
  readonly store: Pick<
    ResourceStore,
    "get" | "list" | "page" | "watch" | "create" | "patch" | "delete" | "appliedFields"
  >;
  readonly objects: ObjectStore;
  /** Bucket of `objects`, where it has buckets. */
  readonly s3Bucket?: string;
  readonly uploads: UploadFolder;
  readonly runtimes: ReadonlyMap<string, Runtime>;
  readonly namespaces: Namespaces;
  readonly secrets: SecretStore;
  readonly events: EventList;
  /** Hears of stored sources. */
  readonly report: Reporter;
  /** Where the manifest of an object stands in the repository that owns it, as far as it was read. */
  readonly placeOf: (
    object: ObjectRef,
    repository: ObjectKey,
  ) => ManifestPlace | undefined | Promise<ManifestPlace | undefined>;
  /** Why an address cannot be that of a repository which a client makes, in words; undefined when it can. */
  readonly repositoryUrlFault: (url: string) => string | undefined;
  /** The Repository that the command line of this process describes; it can be neither deleted nor pointed elsewhere. */
  readonly startedWith?: ObjectKey;
  readonly whoami: (request: Pick<ApiRequest, "headers">) => Identity | Promise<Identity>;
  readonly gateway: Gateway;
  /** Takes webhooks of forges; closed by whoever made it, after the server. */
  readonly hooks: Pick<Hooks, "receive">;
  /** A proxy in front sets `X-Forwarded-For`; default false: the address of a connection is its sender's. */
  readonly trustForwarded?: boolean;
  readonly platform: Pick<Platform, "logs">;
  readonly builder: Pick<Builder, "logs" | "has">;
  /** Looks for garbage and, but in a dry run, removes it. */
  readonly collectGarbage: (options: { readonly dryRun: boolean }) => Promise<GarbageReport>;
  readonly metrics: Metrics;
  /** By name. A check that throws counts as failed with its message. */
  readonly readiness: Readonly<Record<string, ReadinessCheck>>;
  readonly guard: RequestGuard;
  /**
   * Asked for every route that is not open to anybody, before its body is read: throws SlessError `unauthenticated` or
   * `access_denied` to refuse. Default: all may, for a server on one machine.
   */
  readonly authorize?: (request: ApiRequest) => void | Promise<void>;
  readonly clock: Clock;
  readonly log: Pick<Logger, "warn" | "error">;
  /** How long a request waits for the end of an object that is being deleted; default 5,000. */
  readonly goneWaitMs?: number;
  /** How long `close` lets calls finish; default 10,000. */
  readonly closeTimeoutMs?: number;
  /** Connections of clients at a time; default 5,000. */
  readonly maxConnections?: number;
}

/** What a server needs that answers for its health, and passes calls on. */
export type HealthDeps = Pick<
  ServerDeps,
  "gateway" | "guard" | "authorize" | "metrics" | "readiness" | "log" | "closeTimeoutMs" | "maxConnections"
>;

/** What routes see: the dependencies, and when the server begins to close. */
export interface RouteDeps extends ServerDeps {
  readonly closing: AbortSignal;
}
