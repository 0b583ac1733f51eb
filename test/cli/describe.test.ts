import { expect, it } from "vitest";
import type { ObjectOf } from "../../src/apis/index.ts";
import { descriptionLines } from "../../src/cli/describe.ts";
import type { Output } from "../../src/cli/io.ts";
import { styleOf } from "../../src/cli/style.ts";
import { testCli } from "../support/test-cli.ts";

const PLAIN = styleOf({ isTTY: false } as Output, false);
const metadata = {
  name: "hello",
  namespace: "default",
  uid: "u-1",
  resourceVersion: "7",
  generation: 2,
  creationTimestamp: "2024-01-01T00:00:00Z",
  annotations: { "sless.kube5s.ru/path": "functions/hello/function.yaml" },
};
const since = "2024-01-01T00:00:05Z";

const failed: ObjectOf<"Function"> = {
  apiVersion: "sless.kube5s.ru/v1alpha1",
  kind: "Function",
  metadata,
  spec: { runtime: "python3.11", env: { GREETING: "Hello" } },
  status: {
    phase: "Failed",
    conditions: [
      {
        type: "BuildReady",
        status: "False",
        reason: "BuildFailed",
        message: "It failed.\n  line 3",
        lastTransitionTime: since,
      },
      { type: "Serving", status: "True", reason: "Serving", message: "", lastTransitionTime: since },
    ],
  },
};

const repository: ObjectOf<"Repository"> = {
  apiVersion: "sless.kube5s.ru/v1alpha1",
  kind: "Repository",
  metadata: { ...metadata, name: "example", annotations: {} },
  spec: { url: "/srv/example.git" },
  status: {
    lastAppliedRevision: "main@sha1:abc",
    plan: {
      revision: "main@sha1:def",
      counts: { create: 0, update: 1, delete: 0, adopt: 0, hold: 0, refuse: 0, leave: 0, wait: 0, unchanged: 4 },
      actions: ["update Function/default/hello code"],
    },
    diagnostics: { count: 2, items: [{ code: "yaml_syntax", file: "a.yaml", line: 3, column: 7, message: "No." }] },
    history: [{ revision: "main@sha1:abc", time: since, outcome: "Applied" }],
  },
};

const returning = (object: unknown) => ({ client: { getObject: async () => object as never } });

it("a function shows spec, status and each condition with its message", async () => {
  const { code, stdout } = await testCli(["describe", "function", "hello"], returning(failed));
  expect(code).toBe(0);
  expect(stdout).toMatchInlineSnapshot(`
    "Kind:      Function
    Name:      hello
    Namespace: default
    UID:       u-1
    Created:   2024-01-01T00:00:00Z
    Annotations:
      sless.kube5s.ru/path: functions/hello/function.yaml
    Spec:
      runtime: python3.11
      env:
        GREETING: Hello
    Status:
      phase: Failed
    Conditions:
      TYPE        STATUS  REASON       SINCE
      BuildReady  False   BuildFailed  2024-01-01T00:00:05Z
        It failed.
        line 3
      Serving     True    Serving      2024-01-01T00:00:05Z
    "
  `);
});

it("a function shows what served, the newest first", async () => {
  const served = (number: number, letter: string) => ({
    number,
    sourceDigest: letter.repeat(64),
    imageRef: `image ${letter}`,
    revision: `main@sha1:${letter.repeat(40)}`,
    servedAt: since,
  });
  const object = { ...failed, status: { history: [served(2, "b"), served(1, "a")] } };
  const { stdout } = await testCli(["describe", "function", "hello"], returning(object));
  expect(stdout).toContain(`History:
  NUMBER  SERVED SINCE          REVISION           DIGEST
  2       2024-01-01T00:00:05Z  main@sha1:bbbbbbb  bbbbbbbbbbbb
  1       2024-01-01T00:00:05Z  main@sha1:aaaaaaa  aaaaaaaaaaaa
`);
});

it("a repository shows faults by place, the plan and the history", async () => {
  const { stdout } = await testCli(["describe", "repo/example"], returning(repository));
  expect(stdout).toMatchInlineSnapshot(`
    "Kind:      Repository
    Name:      example
    Namespace: default
    UID:       u-1
    Created:   2024-01-01T00:00:00Z
    Spec:
      url: /srv/example.git
    Status:
      lastAppliedRevision: main@sha1:abc
    Faults:
      a.yaml:3:7 yaml_syntax: No.
      and 1 more
    Plan of main@sha1:def:
      update Function/default/hello code
    History:
      TIME                  REVISION       OUTCOME  MESSAGE
      2024-01-01T00:00:05Z  main@sha1:abc  Applied  -
    "
  `);
});

it("a cron trigger shows its next five calls and how the last one ended", () => {
  const trigger: ObjectOf<"Trigger"> = {
    apiVersion: "sless.kube5s.ru/v1alpha1",
    kind: "Trigger",
    metadata: { ...metadata, annotations: {} },
    spec: { type: "cron", functionRef: "hello", schedule: "30 2 * * *", timeZone: "Europe/Berlin" },
    status: {
      lastScheduleTime: "2026-03-27T01:30:00Z",
      conditions: [
        {
          type: "LastCall",
          status: "True",
          reason: "Succeeded",
          message: 'It answered 200 after 12 ms: {"ok":true}',
          lastTransitionTime: since,
        },
      ],
    },
  };
  const lines = descriptionLines(trigger, PLAIN, new Date("2026-03-27T12:00:00Z"));
  expect(lines.slice(lines.indexOf("Conditions:"))).toMatchInlineSnapshot(`
    [
      "Conditions:",
      "  TYPE      STATUS  REASON     SINCE",
      "  LastCall  True    Succeeded  2024-01-01T00:00:05Z",
      "    It answered 200 after 12 ms: {"ok":true}",
      "Next calls:",
      "  UTC                   Europe/Berlin",
      "  2026-03-28T01:30:00Z  2026-03-28 02:30",
      "  2026-03-29T01:30:00Z  2026-03-29 03:30",
      "  2026-03-30T00:30:00Z  2026-03-30 02:30",
      "  2026-03-31T00:30:00Z  2026-03-31 02:30",
      "  2026-04-01T00:30:00Z  2026-04-01 02:30",
    ]
  `);
  const disabled = { ...trigger, spec: { ...trigger.spec, enabled: false } };
  expect(descriptionLines(disabled, PLAIN, new Date())).not.toContain("Next calls:");
});

it("kind and name may be two words or one", async () => {
  const two = await testCli(["describe", "fn", "hello"], returning(failed));
  const one = await testCli(["describe", "fn/hello"], returning(failed));
  expect(one).toEqual(two);
});

it.each([["function"], ["function/"], ["function/a", "b"]])("describe %s is refused", async (...argv) => {
  const { code, stderr } = await testCli(["describe", ...argv], returning(failed));
  expect(code).toBe(2);
  expect(stderr).toContain("sless describe --help");
});

it("a result that would move the terminal is shown without doing so", () => {
  const status = { ...failed.status!, message: "\u009b2J\u202eok\u001b[1A" };
  const shown = descriptionLines({ ...failed, status }, PLAIN, new Date(since)).join("\n");
  expect(shown).toContain("\\x9b2J\\u202eok\\e[1A");
  expect(shown.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\u202e]/u);
});
