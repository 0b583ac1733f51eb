/** Who a token speaks for. */
export type Subject =
  | { readonly user: string; readonly groups?: readonly string[] }
  | { readonly serviceAccount: string; readonly namespace: string };

/**
 * A Kubernetes cluster of real servers without containers: kube-apiserver, etcd, kube-controller-manager,
 * kube-scheduler, and kwok in place of nodes. All of it listens on loopback alone.
 *
 * How pods end is chosen by words in the image of their first container, for that is what production code lets a test
 * choose (see `STAGES` in `pod-stages.ts`):
 *
 * | image contains | pods of Deployments                     | pods of Jobs                        |
 * | -------------- | --------------------------------------- | ----------------------------------- |
 * | –              | Ready at once                           | exit 0 at once                      |
 * | `missing`      | wait with ImagePullBackOff, for ever    | the same                            |
 * | `crashing`     | wait with CrashLoopBackOff, for ever    | exit 1                              |
 * | `unready`      | Running, never Ready                    | run, for ever                       |
 * | `failing`      | Ready at once                           | exit 1                              |
 *
 * The termination message of a Job's pod is the value of its container's variable `TEST_RESULT`, else `done` or
 * `failed`. A pod's log is what `appendPodLog` wrote, else one line, `log of <namespace>/<pod>`.
 */
export interface TestCluster {
  /** Of the API server, `https://127.0.0.1:<port>`. */
  readonly url: string;
  /** Path of the certificate, in PEM form, that `url` is verified with. */
  readonly caFile: string;
  /** Its content. */
  readonly ca: string;
  /** Bearer token of the group `system:masters`. */
  readonly adminToken: string;
  /** Path of a kubeconfig that holds `url`, the certificate and `adminToken`. */
  readonly kubeconfig: string;
  /**
   * A bearer token. One of a user has the groups given and `system:authenticated`, and is never refused; RBAC decides what it may.
   * One of a service account is had by TokenRequest, so the account must exist; it lives an hour.
   */
  tokenFor(subject: Subject, options?: TokenOptions): Promise<string>;
  /** Writes a kubeconfig with the token into the folder of the cluster; its path. */
  kubeconfigFor(token: string): Promise<string>;
  /** One request to the API server, as admin unless `token` is given; the JSON of the answer, whatever its status. */
  request(method: string, path: string, options?: RequestOptions): Promise<ApiAnswer>;
  /** Makes a namespace of a random name that begins with `prefix`; nobody deletes it. */
  createNamespace(prefix?: string): Promise<string>;
  /** Appends to the log of every pod of the namespace whose name begins with `pods`. Who follows it is told. */
  appendPodLog(namespace: string, pods: string, text: string): Promise<void>;
}

export interface TokenOptions {
  /** Of a service account's token. Default: those of the API server. */
  readonly audiences?: readonly string[];
}

export interface RequestOptions {
  /** Sent as JSON; with PATCH as server-side apply (`application/apply-patch+yaml`, the field manager in the path's query). */
  readonly body?: unknown;
  /** Default of PATCH: `application/apply-patch+yaml`; else `application/json`. */
  readonly contentType?: string;
  readonly token?: string;
}

export interface ApiAnswer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests read what they asked for
  readonly body: any;
}

export interface ControlPlaneOptions {
  /** Also runs kube-controller-manager, kube-scheduler and kwok with two ready nodes. Default true. */
  readonly controllers?: boolean;
  /** Installs `crds/` and waits until they are served. Default true. */
  readonly crds?: boolean;
  /** Writes what reaches the API server into an audit log, for `auditLog()`. Default false. */
  readonly audit?: boolean;
  /** Further flags of kube-apiserver. */
  readonly apiServerFlags?: readonly string[];
}

/** A cluster of one's own, whose servers may be stopped. Ports, certificates, tokens and data outlive a restart. */
export interface ControlPlane extends TestCluster, AsyncDisposable {
  /** Kills the API server (default), or lets it end in order with SIGTERM. Resolves when it is gone. */
  stopApiServer(signal?: "SIGKILL" | "SIGTERM"): Promise<void>;
  /** Resolves when the API server is ready. */
  startApiServer(): Promise<void>;
  /** Both; about 3 s. */
  restartApiServer(signal?: "SIGKILL" | "SIGTERM"): Promise<void>;
  /** The API server stays. Until etcd is back requests hang for their `timeout` (a query parameter, default 60 s) and fail. */
  stopEtcd(): Promise<void>;
  /** Resolves when the API server is ready again: after 20 s without etcd that takes it some 10 s. */
  startEtcd(): Promise<void>;
  /** Requests that are done, oldest first, of the stage `ResponseComplete` (watches: when they end). Needs `audit`. */
  auditLog(): Promise<AuditEntry[]>;
  /** Ends every server and removes the data. */
  stop(): Promise<void>;
}

/** What counting needs of an entry of Kubernetes' audit log. */
export interface AuditEntry {
  readonly verb: string;
  readonly requestURI: string;
  readonly user: string;
  readonly userAgent: string;
  readonly resource: string | undefined;
  readonly subresource: string | undefined;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly status: number;
  /** When the request came, in ms since the epoch. */
  readonly at: number;
}
