import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { API_RESOURCES, apiPath, PATCH_TYPES } from "../../src/kubernetes/index.ts";
import { CHART } from "../support/helm.ts";
import type { E2eCluster } from "./open-cluster.ts";

const SHORT_NAMES = /^ {4}shortNames:\n(?: {6}- .*\n)+/m;

/** The chart as it may have been in an older version: functions had no short name then. */
export async function makeOlderChart({
  client,
  get,
}: E2eCluster): Promise<{ readonly folder: string } & AsyncDisposable> {
  // From one that an uninstalled release left, Helm takes nothing away.
  const left = apiPath(API_RESOURCES.CustomResourceDefinition, { name: "functions.sless.kube5s.ru" });
  const body = { spec: { names: { shortNames: null } } };
  if (await get(left)) await client.request({ method: "PATCH", path: left, body, contentType: PATCH_TYPES.merge });
  const folder = await mkdtemp(join(tmpdir(), "sless-e2e-chart-"));
  await cp(CHART, folder, { recursive: true });
  const file = join(folder, "files/crds/functions.yaml");
  const text = await readFile(file, "utf8");
  if (!SHORT_NAMES.test(text)) throw new Error(`${file} has no short names`);
  await writeFile(file, text.replace(SHORT_NAMES, ""));
  return { folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}
