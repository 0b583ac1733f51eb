import { expect, it } from "vitest";
import { type KeptRevisionItem, ServerError, type SlessClient } from "../../src/server/client.ts";
import { workloadItem } from "../support/items.ts";
import { testCli } from "../support/test-cli.ts";

const now = new Date().toISOString();

function revision(number: number, fields: Partial<KeptRevisionItem> = {}): KeptRevisionItem {
  return {
    number,
    source_digest: String(number).repeat(64),
    image_ref: `registry/hello@sha256:${number}`,
    revision: `main@sha1:${String(number).repeat(40)}`,
    path: "hello/function.yaml",
    served_at: now,
    source_present: true,
    image_present: true,
    ...fields,
  };
}

function serverWith(items: readonly KeptRevisionItem[]): { client: Partial<SlessClient> } {
  const get = async (plural: string, name: string) => {
    if (plural === "functions" && name === "hello") return workloadItem(name);
    throw new ServerError(404, { error: "It is not there.", code: "not_found" });
  };
  return { client: { get, history: async () => items } as unknown as Partial<SlessClient> };
}

const revisions = [
  revision(4),
  revision(3, { image_present: false }),
  revision(2, { revision: undefined, path: undefined, source_present: false }),
  revision(1, { source_present: false, image_present: false }),
];

it("history shows what served and what is left of it", async () => {
  const { code, stdout } = await testCli(["history", "hello"], serverWith(revisions));
  expect(code).toBe(0);
  expect(stdout.split("\n").map((line) => line.replace(/\d+s ago/, "1s ago").trim())).toEqual([
    "NUMBER  SERVED  REVISION           DIGEST        KEPT",
    "4       1s ago  main@sha1:4444444  444444444444  yes",
    "3       1s ago  main@sha1:3333333  333333333333  source, no image",
    "2       1s ago  uploaded           222222222222  image, no source",
    "1       1s ago  main@sha1:1111111  111111111111  no",
    "",
  ]);
});

it("history has the forms of other lists", async () => {
  const names = await testCli(["history", "fn/hello", "-o", "name"], serverWith(revisions));
  expect(names.stdout).toBe("function/hello@4\nfunction/hello@3\nfunction/hello@2\nfunction/hello@1\n");
  const json = await testCli(["history", "hello", "-o", "json"], serverWith(revisions));
  expect(JSON.parse(json.stdout).items[0]).toEqual(revisions[0]);
  const wide = await testCli(["history", "hello", "-o", "wide"], serverWith(revisions));
  expect(wide.stdout).toContain(`main@sha1:${"4".repeat(40)}`);
  expect(wide.stdout).toContain("registry/hello@sha256:4");
  const yaml = await testCli(["history", "hello", "-o", "yaml"], serverWith(revisions));
  expect(yaml.stdout).toMatch(/^items:\n {2}- number: 4\n/);
});

it("history of what never served says so, and of what is not there is refused", async () => {
  const none = await testCli(["history", "hello"], serverWith([]));
  expect([none.code, none.stderr]).toEqual([0, "Nothing of function/hello has served yet.\n"]);
  const { client } = serverWith([]);
  const missing = await testCli(["history", "hell"], {
    client: { ...client, list: async () => [workloadItem("hello")] as never },
  });
  expect(missing.code).toBe(2);
  expect(missing.stderr).toContain("did you mean hello?");
});
