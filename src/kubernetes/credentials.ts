import { type Cluster, type KubeConfig, KubeConfig as LoadedConfig } from "@kubernetes/client-node";
import { Agent, type Dispatcher } from "undici";
import { messageOf, SlessError } from "../errors/index.ts";

/** Where a kubeconfig is taken from: a file, or the service account that the pod runs with. */
export type KubeConfigSource = { readonly file: string; readonly context?: string } | "in-cluster";

export interface Credentials {
  readonly origin: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly dispatcher: Dispatcher;
}

export interface CredentialReader {
  /** `isStale`: the server refused what was given last. */
  read(isStale?: boolean): Promise<Credentials>;
  /** Namespace of the current context or service account, when one is set. */
  readonly namespace: string | undefined;
  close(): Promise<void>;
}

/** Service-account tokens rotate hourly, an hour before they end; files are looked at this often. */
const FRESH_MS = 30_000;
/** More requests than these wait for a connection. */
const CONNECTIONS_MAX = 64;

/**
 * Credentials of a kubeconfig: tokens, client certificates, exec plugins, files that rotate. One dispatcher is kept as
 * long as the TLS settings are the same; the library itself makes one, and so a TLS handshake, per request.
 *
 * @throws SlessError `settings_invalid` when the file cannot be read or names no cluster
 */
export function readCredentials(source: KubeConfigSource, monotonicMs: () => number): CredentialReader {
  const dispatchers = new Map<string, Dispatcher>();
  const config = load(source);
  let current: { readonly credentials: Credentials; readonly untilMs: number } | undefined;
  let reading: Promise<Credentials> | undefined;

  const dispatcherFor = async (cluster: Cluster, options: object) => {
    const key = JSON.stringify([cluster.server, cluster.proxyUrl, options], (_, value: unknown) =>
      Buffer.isBuffer(value) ? value.toString("base64") : value,
    );
    const kept = dispatchers.get(key);
    if (kept) return kept;
    const made = await openDispatcher(config, cluster, options);
    dispatchers.set(key, made);
    for (const [old, dispatcher] of dispatchers) {
      if (old === key) continue;
      dispatchers.delete(old);
      // Requests in flight end first.
      void dispatcher.close();
    }
    return made;
  };

  async function readNow(): Promise<Credentials> {
    const cluster = config.getCurrentCluster()!;
    const options: { headers?: Record<string, string | string[]> } & Record<string, unknown> = {};
    await config.applyToHTTPSOptions(options as Parameters<KubeConfig["applyToHTTPSOptions"]>[0]);
    const { ca, cert, key, pfx, passphrase, rejectUnauthorized, servername, auth } = options;
    const tls = Object.fromEntries(
      Object.entries({ ca, cert, key, pfx, passphrase, rejectUnauthorized, servername }).filter(
        ([, value]) => value !== undefined && value !== null,
      ),
    );
    const basic: Record<string, string> =
      typeof auth === "string" ? { authorization: `Basic ${Buffer.from(auth).toString("base64")}` } : {};
    const headers = Object.fromEntries(
      Object.entries(options.headers ?? {}).map(([name, value]) => [name.toLowerCase(), String(value)]),
    );
    const credentials = {
      origin: cluster.server.replace(/\/+$/, ""),
      headers: { ...basic, ...headers },
      dispatcher: await dispatcherFor(cluster, tls),
    };
    current = { credentials, untilMs: monotonicMs() + FRESH_MS };
    return credentials;
  }

  return {
    async read(isStale = false) {
      if (!isStale && current && current.untilMs > monotonicMs()) return current.credentials;
      reading ??= readNow().finally(() => {
        reading = undefined;
      });
      return reading;
    },
    namespace: config.getContextObject(config.getCurrentContext())?.namespace,
    async close() {
      await Promise.all(Array.from(dispatchers.values(), (dispatcher) => dispatcher.destroy()));
      dispatchers.clear();
    },
  };
}

function load(source: KubeConfigSource): KubeConfig {
  const config = new LoadedConfig();
  try {
    if (source === "in-cluster") config.loadFromCluster();
    else config.loadFromFile(source.file);
    if (source !== "in-cluster" && source.context !== undefined) config.setCurrentContext(source.context);
  } catch (error) {
    throw new SlessError("settings_invalid", { cause: `the kubeconfig cannot be read: ${messageOf(error)}` });
  }
  if (!config.getCurrentCluster()?.server)
    throw new SlessError("settings_invalid", { cause: "the kubeconfig's current context names no cluster" });
  return config;
}

async function openDispatcher(config: KubeConfig, cluster: Cluster, options: object): Promise<Dispatcher> {
  if (cluster.proxyUrl) return proxyDispatcher(config);
  return new Agent({
    connect: { ...options, keepAlive: true, keepAliveInitialDelay: 30_000, timeout: 10_000 },
    connections: CONNECTIONS_MAX,
    headersTimeout: 65_000,
    bodyTimeout: 0,
  });
}

/** Proxies of a kubeconfig are the library's business. */
async function proxyDispatcher(config: KubeConfig): Promise<Dispatcher> {
  let made: Dispatcher | undefined;
  const context = {
    setHeaderParam: () => undefined,
    setDispatcher: (dispatcher: Dispatcher) => {
      made = dispatcher;
    },
  };
  await config.applySecurityAuthentication(
    context as unknown as Parameters<KubeConfig["applySecurityAuthentication"]>[0],
  );
  if (!made) throw new SlessError("settings_invalid", { cause: "the proxy of the kubeconfig cannot be used" });
  return made;
}
