import { readFile } from "node:fs/promises";
import type { Cluster, KubeConfig } from "@kubernetes/client-node";
import { Agent, type Dispatcher } from "undici";
import type { TimerClock } from "../controller/clock.ts";
import { SlessError } from "../errors/index.ts";
import { type KubeConfigSource, type LoadedKubeConfig, loadKubeConfig } from "./kubeconfig.ts";

export interface Credentials {
  readonly origin: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly dispatcher: Dispatcher;
}

export interface CredentialReader {
  /**
   * @param refused what the server did not accept: it is not given again unless there is nothing else
   * @throws SlessError `cluster_unavailable` when a token file or a plugin fails
   */
  read(refused?: Credentials): Promise<Credentials>;
  /** Namespace of the current context or service account, when one is set. */
  readonly namespace: string | undefined;
  close(): Promise<void>;
}

export interface CredentialOptions {
  readonly clock: TimerClock;
  /** Without an answer after so long a request has failed. */
  readonly timeoutMs: number;
  /** More requests than these wait for a connection. */
  readonly connections: number;
}

/** Service-account tokens rotate hourly, an hour before they end; files are looked at this often. */
const FRESH_MS = 30_000;
/** The API server ends connections that were idle for 90 s. */
const IDLE_MS = 60_000;
const CONNECT_TIMEOUT_MS = 10_000;
const PLUGIN_TIMEOUT_MS = 30_000;

/**
 * Credentials of a kubeconfig: tokens, client certificates, exec plugins, files that rotate. One dispatcher is kept as
 * long as the TLS settings are the same; the library itself makes one, and so a TLS handshake, per request.
 *
 * @throws SlessError `settings_invalid` when the file cannot be read or names no cluster
 */
export function readCredentials(source: KubeConfigSource, options: CredentialOptions): CredentialReader {
  const { clock } = options;
  let loaded = loadKubeConfig(source);
  const dispatchers = keptDispatchers(options);
  let current: { readonly credentials: Credentials; readonly untilMs: number } | undefined;
  let reading: Promise<Credentials> | undefined;

  async function readNow(isRefused: boolean): Promise<Credentials> {
    // The file may hold another token by now; and the library runs a plugin again only for a config that is new.
    if (isRefused || !hasPlugin(loaded.config)) loaded = reload(source) ?? loaded;
    const credentials = await credentialsOf(loaded, dispatchers, clock);
    current = { credentials, untilMs: clock.monotonicMs() + FRESH_MS };
    return credentials;
  }

  return {
    async read(refused) {
      const isRefused = refused !== undefined && current?.credentials === refused;
      if (!isRefused && current && current.untilMs > clock.monotonicMs()) return current.credentials;
      reading ??= readNow(isRefused).finally(() => {
        reading = undefined;
      });
      return reading;
    },
    namespace: loaded.config.getContextObject(loaded.config.getCurrentContext())?.namespace,
    close: dispatchers.close,
  };
}

/** A file that is being replaced at this moment is read the next time. */
function reload(source: KubeConfigSource): LoadedKubeConfig | undefined {
  try {
    return loadKubeConfig(source);
  } catch {
    return undefined;
  }
}

function hasPlugin(config: KubeConfig): boolean {
  const user = config.getCurrentUser();
  return Boolean(user?.exec ?? user?.authProvider);
}

type LibraryOptions = Parameters<KubeConfig["applyToHTTPSOptions"]>[0];

async function credentialsOf(
  { config, tokenFile }: LoadedKubeConfig,
  dispatchers: KeptDispatchers,
  clock: TimerClock,
): Promise<Credentials> {
  const cluster = config.getCurrentCluster()!;
  const options: { headers?: Record<string, string | string[]> } & Record<string, unknown> = {};
  await within(PLUGIN_TIMEOUT_MS, clock, config.applyToHTTPSOptions(options as LibraryOptions));
  const { ca, cert, key, pfx, passphrase, rejectUnauthorized, servername, auth } = options;
  const tls = Object.entries({ ca, cert, key, pfx, passphrase, rejectUnauthorized, servername });
  const headers = Object.entries(options.headers ?? {}).map(([name, value]) => [
    name.toLowerCase(),
    String(value).trim(),
  ]);
  const token = tokenFile === undefined ? undefined : await readToken(tokenFile);
  return {
    origin: cluster.server.replace(/\/+$/, ""),
    headers: {
      ...(typeof auth === "string" && { authorization: `Basic ${Buffer.from(auth).toString("base64")}` }),
      ...Object.fromEntries(headers),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    dispatcher: await dispatchers.get(
      config,
      cluster,
      Object.fromEntries(tls.filter(([, value]) => value !== undefined && value !== null)),
    ),
  };
}

async function readToken(file: string): Promise<string> {
  try {
    return (await readFile(file, "utf8")).trim();
  } catch (error) {
    throw unreadable(`its token file ${file} (${(error as NodeJS.ErrnoException).code})`);
  }
}

/** What plugins say on failing may hold a secret. */
function within(ms: number, clock: TimerClock, applied: Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = clock.setTimer(ms, () =>
      reject(unreadable(`a credential plugin did not end within ${ms / 1_000} s`)),
    );
    applied
      .then(resolve, () => reject(unreadable("a credential plugin or a file that it names failed; try it by hand")))
      .finally(cancel);
  });
}

function unreadable(cause: string): SlessError {
  return new SlessError("cluster_unavailable", { cause: `the kubeconfig gave no credentials: ${cause}` });
}

interface KeptDispatchers {
  get(config: KubeConfig, cluster: Cluster, tls: object): Promise<Dispatcher>;
  close(): Promise<void>;
}

/** One dispatcher for as long as nothing of its TLS settings changes. */
function keptDispatchers(options: CredentialOptions): KeptDispatchers {
  let kept: { readonly key: string; readonly dispatcher: Dispatcher } | undefined;
  return {
    async get(config, cluster, tls) {
      const key = JSON.stringify([cluster.server, cluster.proxyUrl, tls]);
      if (kept?.key === key) return kept.dispatcher;
      const dispatcher = cluster.proxyUrl ? await proxyDispatcher(config) : directDispatcher(tls, options);
      // Requests in flight end first.
      void kept?.dispatcher.close();
      kept = { key, dispatcher };
      return dispatcher;
    },
    async close() {
      await kept?.dispatcher.destroy();
    },
  };
}

function directDispatcher(tls: object, { timeoutMs, connections }: CredentialOptions): Dispatcher {
  return new Agent({
    connect: { ...tls, keepAlive: true, keepAliveInitialDelay: 30_000, timeout: CONNECT_TIMEOUT_MS },
    connections,
    keepAliveTimeout: IDLE_MS,
    headersTimeout: timeoutMs,
    bodyTimeout: 0,
    allowH2: false,
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
