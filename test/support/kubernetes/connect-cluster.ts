import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Agent, request } from "undici";
import type { ApiAnswer, RequestOptions, Subject, TestCluster } from "./cluster.ts";
import { kubeconfig, signUser } from "./credentials.ts";
import { appendPodLog } from "./pod-logs.ts";

/** What a process must know of a cluster that another one runs. */
export interface ClusterAddress {
  readonly url: string;
  readonly ca: string;
  readonly adminToken: string;
  readonly userKey: string;
  readonly folder: string;
}

export function podLogFolder(folder: string): string {
  return join(folder, "pod-logs");
}

const TOKEN_SECONDS = 3_600;

/** The cluster's face over its address. Holds connections until the process ends or `close`. */
export function connectCluster(address: ClusterAddress): TestCluster & { close(): Promise<void> } {
  const { url, ca, adminToken, userKey, folder } = address;
  const caFile = join(folder, "ca.crt");
  const dispatcher = new Agent({ connect: { ca }, allowH2: false });

  async function ask(method: string, path: string, options: RequestOptions = {}): Promise<ApiAnswer> {
    const { body, token = adminToken, contentType = contentTypeOf(method) } = options;
    const answer = await request(`${url}${path}`, {
      method: method as "GET",
      dispatcher,
      headers: { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { "content-type": contentType }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.body.text();
    return { status: answer.statusCode, body: isJson(answer.headers["content-type"]) ? JSON.parse(text) : text };
  }

  async function tokenFor(subject: Subject, options: { audiences?: readonly string[] } = {}): Promise<string> {
    if ("user" in subject) return signUser({ user: subject.user, groups: subject.groups ?? [] }, userKey);
    const path = `/api/v1/namespaces/${subject.namespace}/serviceaccounts/${subject.serviceAccount}/token`;
    const spec = { expirationSeconds: TOKEN_SECONDS, ...(options.audiences ? { audiences: options.audiences } : {}) };
    const { status, body } = await ask("POST", path, {
      body: { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec },
    });
    if (status !== 201) throw new Error(`no token for ${subject.namespace}/${subject.serviceAccount}: ${body.message}`);
    return body.status.token;
  }

  return {
    url,
    ca,
    caFile,
    adminToken,
    kubeconfig: join(folder, "admin.kubeconfig"),
    request: ask,
    tokenFor,
    async kubeconfigFor(token) {
      const path = join(folder, `${randomBytes(6).toString("hex")}.kubeconfig`);
      await writeFile(path, kubeconfig(url, caFile, token), { mode: 0o600 });
      return path;
    },
    async createNamespace(prefix = "test") {
      const name = `${prefix}-${randomBytes(5).toString("hex")}`;
      const { status, body } = await ask("POST", "/api/v1/namespaces", { body: { metadata: { name } } });
      if (status !== 201) throw new Error(`no namespace ${name}: ${body.message}`);
      return name;
    },
    appendPodLog: (namespace, pods, text) => appendPodLog(podLogFolder(folder), namespace, pods, text),
    close: () => dispatcher.destroy(),
  };
}

function contentTypeOf(method: string): string {
  return method === "PATCH" ? "application/apply-patch+yaml" : "application/json";
}

function isJson(contentType: string | string[] | undefined): boolean {
  return String(contentType).startsWith("application/json");
}
