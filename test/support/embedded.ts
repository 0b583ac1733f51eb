import { join } from "node:path";
import { onTestFinished } from "vitest";
import { findCondition, type Kind, type ObjectOf } from "../../src/apis/index.ts";
import { startEmbedded } from "../../src/app/embedded.ts";
import type { EmbeddedApp } from "../../src/cli/index.ts";
import { readSettings, readStoreSettings } from "../../src/config/index.ts";
import type { TimerClock } from "../../src/controller/index.ts";
import type { ProgressEvent } from "../../src/report/index.ts";
import { createClient, type Plural, type SlessClient } from "../../src/server/client.ts";
import { eventually } from "./eventually.ts";
import type { GitRepository } from "./git-repository.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { within } from "./within.ts";

export interface TestApp {
  readonly app: EmbeddedApp;
  readonly data: string;
  readonly client: SlessClient;
  /** Everything that was reported since the start, or since the last `forget`. */
  readonly events: ProgressEvent[];
  /** Calls a function with a JSON body. */
  call(name: string, body?: unknown): Promise<{ status: number; body: unknown }>;
  object<K extends Kind>(plural: Plural, name: string): Promise<ObjectOf<K>>;
  /** Waits until the repository's sync of this commit ended, and with it every workload. */
  synced(commit: string): Promise<void>;
  /** Waits until the repository's Ready condition has this reason; its message. */
  readyReason(reason: string): Promise<string>;
}

export interface TestAppOptions {
  readonly data?: string;
  readonly port?: number;
  /** Branch that is followed; default `main`. */
  readonly branch?: string;
  /** The work tree is followed, not a branch. */
  readonly worktree?: boolean;
  /** What the ticks of cron triggers are measured by. */
  readonly cronClock?: TimerClock;
  /** Beyond the test's own environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Variables that say where sources and images are kept; the test's own environment has none. */
  readonly stores?: Readonly<Record<string, string>>;
}

/** As long as a test may take: how much there is to do is the test's own. */
const SETTLES_WITHIN_MS = 600_000;
const EVENTS_TOLD = 20;
const PLURAL_OF_REPOSITORY = "repositories";

/** The embedded mode in this process over a real repository; closed when the test ends. */
export async function startTestApp(
  repository: Pick<GitRepository, "dir">,
  options: TestAppOptions = {},
): Promise<TestApp> {
  const { branch = "main", worktree = false } = options;
  const data = options.data ?? join(await temporaryFolder(), "data");
  const events: ProgressEvent[] = [];
  const embedded = {
    data,
    port: options.port ?? 0,
    repository: {
      name: "test",
      path: repository.dir,
      ref: worktree ? {} : { branch },
      worktree,
      subPath: "",
      namespace: "default",
    },
    report: (event: ProgressEvent) => void events.push(event),
    settings: readSettings({ ...process.env, LOG_LEVEL: "error", ...options.env }),
    stores: readStoreSettings(options.stores ?? {}),
  };
  const started = await startEmbedded(embedded, options.cronClock ? { cronClock: options.cronClock } : {});
  const last = () => events.slice(-EVENTS_TOLD).map((event) => JSON.stringify(event));
  const settled = () => within("the end of all work", started.settled(), () => last().join("\n"), SETTLES_WITHIN_MS);
  const app: EmbeddedApp = { ...started, settled };
  const client = createClient({ endpoint: app.url });
  onTestFinished(async () => {
    await client.close();
    await app.close();
  });
  const object = async <K extends Kind>(plural: Plural, name: string) =>
    (await client.getObject(plural, name, { namespace: "default" })) as unknown as ObjectOf<K>;
  return {
    app,
    data,
    client,
    events,
    object,
    call: (name, body) => callFunction(`${app.url}/fn/default/${name}`, body),
    async synced(commit) {
      await eventually(
        `the sync of ${commit}`,
        () => object<"Repository">(PLURAL_OF_REPOSITORY, "test"),
        ({ status }) => status?.lastAttemptedRevision === `${branch}@sha1:${commit}`,
      );
      await app.settled();
    },
    async readyReason(reason) {
      const repository = await eventually(
        `the repository to say ${reason}`,
        () => object<"Repository">(PLURAL_OF_REPOSITORY, "test"),
        ({ status }) => findCondition(status?.conditions, "Ready")?.reason === reason,
      );
      return findCondition(repository.status?.conditions, "Ready")?.message ?? "";
    },
  };
}

/** Posts JSON; answers the status and the body, parsed where it is JSON. */
export async function callFunction(url: string, body: unknown = {}): Promise<{ status: number; body: unknown }> {
  const response = await fetch(url, {
    method: "POST",
    body: JSON.stringify(body),
    headers: { "content-type": "application/json" },
  });
  const text = await response.text();
  try {
    return { status: response.status, body: JSON.parse(text) };
  } catch {
    return { status: response.status, body: text };
  }
}

/** Files of a Python function with an http trigger. */
export function pythonFunction(
  name: string,
  code: string,
  spec: Readonly<Record<string, unknown>> = {},
): Record<string, string> {
  const fields = Object.entries({ runtime: "python3.11", ...spec }).map(
    ([key, value]) => `  ${key}: ${JSON.stringify(value)}`,
  );
  return {
    [`functions/${name}/function.yaml`]: [
      "apiVersion: sless.kube5s.ru/v1alpha1",
      "kind: Function",
      `metadata: {name: ${name}}`,
      "spec:",
      ...fields,
      "---",
      "apiVersion: sless.kube5s.ru/v1alpha1",
      "kind: Trigger",
      `metadata: {name: ${name}-http}`,
      `spec: {type: http, functionRef: ${name}}`,
      "",
    ].join("\n"),
    [`functions/${name}/handler.py`]: code,
  };
}

/** A handler that answers a constant. */
export const answering = (value: unknown) => `def handle(event, context):\n    return ${JSON.stringify(value)}\n`;
