import { resolve } from "node:path";
import { expect, it } from "vitest";
import { neededServers } from "./needed-servers.ts";

const ROOT = resolve(import.meta.dirname, "../../..");
const CONTROL_PLANE = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok"];

it.each([
  ["nothing", "test/architecture.test.ts", []],
  ["a cluster", "test/support/kubernetes/cluster.test.ts", CONTROL_PLANE],
  ["what its support builds", "test/storage/s3.test.ts", ["versitygw"]],
])("a file that asks for %s needs just that", async (_what, file, servers) => {
  expect(await neededServers([resolve(ROOT, file)])).toEqual(servers);
});
