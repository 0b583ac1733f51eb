import { expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import type { AnyObject, Kind } from "../../src/apis/index.ts";
import { parseManifest } from "../../src/manifest/index.ts";
import type { SlessClient } from "../../src/server/client.ts";
import { PLURALS } from "../../src/server/items.ts";
import { testCli } from "../support/test-cli.ts";

function live(kind: Kind, name: string, spec: object, metadata: object = {}): AnyObject {
  return {
    apiVersion: "sless.kube5s.ru/v1alpha1",
    kind,
    metadata: {
      name,
      namespace: "demo",
      uid: "1-2-3",
      resourceVersion: "7",
      generation: 2,
      creationTimestamp: "2024-01-01T00:00:00Z",
      ...metadata,
    },
    spec,
    status: { phase: "Ready" },
  } as unknown as AnyObject;
}

const MARKS = {
  labels: { team: "x", "sless.kube5s.ru/repository": "1" },
  annotations: { note: "yes", "sless.kube5s.ru/owner": "1/Function/demo/hello", "sless.kube5s.ru/prune": "disabled" },
};
const OBJECTS = [
  live("Repository", "site", { url: "https://me:secret@example.com/x.git", interval: "1m", prune: true }),
  live(
    "Function",
    "hello",
    { runtime: "python3.11", memoryMB: 128, s3Key: "functions/k.zip", env: { A: "on", B: "1_0" } },
    MARKS,
  ),
  live("Trigger", "t", { type: "http", functionRef: "hello", enabled: false }),
];
const client = {
  listObjects: async (plural: keyof typeof PLURALS) => OBJECTS.filter(({ kind }) => kind === PLURALS[plural]),
} as unknown as Partial<SlessClient>;
const run = (...args: string[]) => testCli(["export", "-n", "demo", ...args], { client });

const HELLO = {
  apiVersion: "sless.kube5s.ru/v1alpha1",
  kind: "Function",
  metadata: {
    name: "hello",
    namespace: "demo",
    labels: { team: "x" },
    annotations: { note: "yes", "sless.kube5s.ru/prune": "disabled" },
  },
  spec: { runtime: "python3.11", env: { A: "on", B: "1_0" } },
};

it("prints what somebody would write, and nothing of the server's", async () => {
  const { code, stdout } = await run();
  expect(code).toBe(0);
  const documents = parseAllDocuments(stdout).map((document) => document.toJS() as unknown);
  expect(documents).toEqual([
    {
      apiVersion: "sless.kube5s.ru/v1alpha1",
      kind: "Repository",
      metadata: { name: "site", namespace: "demo" },
      spec: { url: "https://example.com/x.git" },
    },
    HELLO,
    {
      apiVersion: "sless.kube5s.ru/v1alpha1",
      kind: "Trigger",
      metadata: { name: "t", namespace: "demo" },
      spec: { type: "http", functionRef: "hello", enabled: false },
    },
  ]);
});

it("is a manifest of a repository as it stands", async () => {
  const { stdout } = await run("--only", "functions", "triggers");
  const parsed = parseManifest({ file: "all.yaml", text: stdout, namespace: "demo", runtimes: ["python3.11"] });
  expect(parsed.diagnostics).toEqual([]);
  expect(parsed.objects).toHaveLength(2);
});

it("is a list in JSON, of the chosen objects", async () => {
  const { stdout } = await run("--only", "function/hello", "-o", "json");
  expect(JSON.parse(stdout)).toEqual({ apiVersion: "v1", kind: "List", items: [HELLO] });
});

it("knows what is not there", async () => {
  const { code, stderr } = await run("--only", "function/nope");
  expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining("function/nope does not exist") });
});

it("lists the names alone, for scripts", async () => {
  expect((await run("-o", "name")).stdout).toBe("repository/site\nfunction/hello\ntrigger/t\n");
});
