import { expect, it } from "vitest";
import type { ClusterOptions } from "../../src/cli/index.ts";
import { testCli } from "../support/test-cli.ts";

it.each([
  ["controller", ["controller"]],
  ["api", ["api"]],
  ["gateway", ["gateway"]],
  ["serve", ["controller", "api", "gateway"]],
])("sless %s does its roles until it is told to end, and then ends in order", async (verb, roles) => {
  const ending = new AbortController();
  const told: string[] = [];
  const startCluster = async ({ roles: asked, settings }: ClusterOptions) => {
    told.push(...asked, String(settings.port));
    ending.abort();
    return { url: "", internalUrl: undefined, close: async () => void told.push("closed") };
  };
  const env = { KUBECONFIG: "/k", PORT: "8080" };
  const { code, stderr } = await testCli([verb], { env, signal: ending.signal, deps: { startCluster } });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(told).toEqual([...roles, "8080", "closed"]);
});

it("outside a cluster every fault of the settings is told, and nothing starts", async () => {
  const { code, stderr } = await testCli(["serve"], { env: { KUBE_API_QPS: "many" } });
  expect(code).toBe(2);
  expect(stderr).toContain("KUBECONFIG is not set");
  expect(stderr).toContain('KUBE_API_QPS "many" is no whole number');
});
