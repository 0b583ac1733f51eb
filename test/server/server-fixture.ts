import { join } from "node:path";
import pino from "pino";
import { onTestFinished } from "vitest";
import { API_VERSION, KIND_NAMES, keyOf, type ObjectIntent, type ObjectOf } from "../../src/apis/index.ts";
import { secretFiles } from "../../src/app/secret-files.ts";
import { systemClock } from "../../src/controller/index.ts";
import { createEndpointTable, createGateway, type GatewayDeps } from "../../src/gateway/index.ts";
import { createHooks } from "../../src/hooks/index.ts";
import {
  createMetrics,
  createServer,
  localGuard,
  type Namespaces,
  openUploadFolder,
  type ServerDeps,
} from "../../src/server/index.ts";
import type { ObjectStore } from "../../src/storage/index.ts";
import { cleanUpAtOnce } from "../support/clean-up-at-once.ts";
import { type FakePlatform, fakePlatform } from "../support/fake-platform.ts";
import { runtimes } from "../support/function-files.ts";
import { memoryObjectStore } from "../support/memory-object-store.ts";
import { memoryStore } from "../support/memory-store.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

type Store = Awaited<ReturnType<typeof memoryStore>>;

export interface ServerFixture {
  readonly url: string;
  readonly port: number;
  readonly store: Store;
  readonly objects: ObjectStore;
  readonly platform: FakePlatform;
  /** Repositories of which webhooks said that they may have something new. */
  readonly hinted: readonly string[];
  readonly server: ReturnType<typeof createServer>;
  /** Functions and services that the gateway knows, by `<namespace>/<name>`; they are reachable without a trigger. */
  readonly reachable: Map<string, ObjectOf<"Service">>;
  json(
    path: string,
    init?: RequestInit,
  ): Promise<{ status: number; body: Record<string, unknown> & { items: unknown[] } }>;
}

/** A listening server over an empty store, with a gateway in front of the fake platform. */
export async function serverFixture(
  options: Partial<ServerDeps> = {},
  gatewayOptions: Partial<GatewayDeps> = {},
): Promise<ServerFixture> {
  const store = cleanUpAtOnce(await memoryStore(), KIND_NAMES);
  const objects = memoryObjectStore();
  const platform = fakePlatform();
  const reachable = new Map<string, ObjectOf<"Service">>();
  const log = pino({ level: "silent" });
  const metrics = createMetrics();
  const secrets = secretFiles(join(await temporaryFolder(), "secrets"));
  const hinted: string[] = [];
  const endpoints = createEndpointTable({
    functions: { get: () => undefined },
    services: { get: (key) => reachable.get(keyOf(key)) },
    triggersOf: () => [],
  });
  const gateway = createGateway({
    endpoints,
    platform,
    clock: systemClock,
    log,
    onCall: metrics.onCall,
    ...gatewayOptions,
  });
  const server = createServer({
    store,
    objects,
    uploads: await openUploadFolder(join(await temporaryFolder(), "uploads")),
    runtimes,
    namespaces: memoryNamespaces(["default"]),
    secrets,
    events: { list: () => [] },
    report: () => undefined,
    placeOf: () => undefined,
    repositoryUrlFault: (url) => (url.startsWith("https://") ? undefined : "only https:// is followed here"),
    whoami: () => ({ subject: "local", namespace: "default", authentication: "none" }),
    gateway,
    hooks: createHooks({
      store,
      readSecret: secrets.read,
      hint: ({ metadata: { namespace, name } }) => void hinted.push(`${namespace}/${name}`),
      clock: systemClock,
      log,
      onDelivery: metrics.onDelivery,
    }),
    platform,
    builder: {
      has: async () => true,
      async *logs({ name }) {
        yield Buffer.from(`build of ${name}\nline 2\nline 3\n`);
      },
    },
    collectGarbage: () => Promise.reject(new Error("this test collects nothing")),
    metrics,
    readiness: {},
    guard: localGuard(),
    clock: systemClock,
    log,
    ...options,
  });
  const { url, port } = await server.listen({ host: "127.0.0.1", port: 0 });
  onTestFinished(() => server.close());
  return {
    url,
    port,
    store,
    objects,
    platform,
    server,
    hinted,
    reachable,
    async json(path, init) {
      const answer = await fetch(`${url}${path}`, init);
      return { status: answer.status, body: (await answer.json()) as never };
    },
  };
}

export function memoryNamespaces(present: readonly string[]): Namespaces {
  const names = new Set(present);
  return {
    has: async (name) => names.has(name),
    async ensure(name) {
      const status = names.has(name) ? "exists" : "created";
      names.add(name);
      return status;
    },
  };
}

export function functionIntent(name: string, spec: object = {}, metadata: object = {}): ObjectIntent<"Function"> {
  return {
    kind: "Function",
    metadata: { name, namespace: "default", ...metadata },
    spec: { runtime: "python3.11", ...spec },
  };
}

/** A service as the gateway's cache has it. */
export function liveService(name: string, spec: object = {}): ObjectOf<"Service"> {
  const metadata = { name, namespace: "default", uid: "u", resourceVersion: "1", generation: 1, creationTimestamp: "" };
  return { apiVersion: API_VERSION, kind: "Service", metadata, spec: { runtime: "python3.11", ...spec } };
}
