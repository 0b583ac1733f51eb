import { appendFile, mkdir, open, readdir } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";

const POLL_MS = 50;
const LOGS_PATH = /^\/containerLogs\/([a-z0-9-]+)\/([a-z0-9.-]+)\/([a-z0-9-]+)$/;

/** Appends to the log of every pod of the namespace whose name begins with `pods`; kept in files below `folder`. */
export async function appendPodLog(folder: string, namespace: string, pods: string, text: string): Promise<void> {
  await mkdir(join(folder, namespace), { recursive: true });
  await appendFile(join(folder, namespace, `${pods}.log`), text);
}

export interface PodLogServer {
  readonly port: number;
  close(): void;
}

interface PodLogOptions {
  readonly folder: string;
  readonly tls: { readonly cert: string; readonly key: string };
  /** A pod that has ended says nothing more: who follows its log is let go. */
  hasEnded(namespace: string, pod: string): Promise<boolean>;
}

/**
 * Answers the API server's questions for logs in place of the nodes' kubelets, for kwok's pods say nothing by
 * themselves: with what `appendPodLog` wrote, else with one line that names the pod. Knows `follow` and `tailLines`.
 */
export async function servePodLogs({ folder, tls, hasEnded }: PodLogOptions): Promise<PodLogServer> {
  const server = createServer(tls, async (request, response) => {
    const url = new URL(request.url ?? "/", "https://node");
    const [, namespace = "", pod = ""] = LOGS_PATH.exec(url.pathname) ?? [];
    if (pod === "") return response.writeHead(404).end();
    if (url.searchParams.get("previous") === "true")
      return response.writeHead(400).end(`previous terminated container of pod "${pod}" not found\n`);
    const file = await logOf(folder, namespace, pod);
    const given = (name: string) => Number(url.searchParams.get(name) ?? Number.POSITIVE_INFINITY);
    const limits = { lines: given("tailLines"), bytes: given("limitBytes") };
    const read = await sendTail(response, file, limits, `log of ${namespace}/${pod}\n`);
    if (url.searchParams.get("follow") === "true")
      await follow(
        response,
        () => logOf(folder, namespace, pod),
        read,
        () => hasEnded(namespace, pod),
      );
    return response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  server.unref();
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** The file whose name is the longest that the pod's begins with. */
async function logOf(folder: string, namespace: string, pod: string): Promise<string | undefined> {
  const names = await readdir(join(folder, namespace)).catch(() => []);
  const prefixes = names.map((name) => name.slice(0, -".log".length)).filter((prefix) => pod.startsWith(prefix));
  const longest = prefixes.sort((a, b) => b.length - a.length)[0];
  return longest === undefined ? undefined : join(folder, namespace, `${longest}.log`);
}

/** Resolves with the bytes of the file that were read. */
async function sendTail(
  response: ServerResponse,
  file: string | undefined,
  limits: { readonly lines: number; readonly bytes: number },
  otherwise: string,
): Promise<number> {
  const bytes = file === undefined ? undefined : await readFrom(file, 0);
  const text = bytes?.toString() ?? otherwise;
  response.write(Buffer.from(lastLinesOf(text, limits.lines)).subarray(0, limits.bytes));
  return bytes?.length ?? 0;
}

function lastLinesOf(text: string, count: number): string {
  const lines = text.split(/(?<=\n)/);
  return count === 0 ? "" : lines.slice(-count).join("");
}

async function follow(
  response: ServerResponse,
  find: () => Promise<string | undefined>,
  from: number,
  hasEnded: () => Promise<boolean>,
): Promise<void> {
  let at = from;
  response.flushHeaders();
  while (!response.destroyed) {
    const ended = await hasEnded();
    const file = await find();
    const bytes = file === undefined ? Buffer.alloc(0) : await readFrom(file, at);
    at += bytes.length;
    if (bytes.length > 0) response.write(bytes);
    if (ended) return;
    await setTimeout(POLL_MS);
  }
}

async function readFrom(file: string, position: number): Promise<Buffer> {
  const handle = await open(file);
  try {
    const { size } = await handle.stat();
    const buffer = Buffer.alloc(Math.max(0, size - position));
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, position);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}
