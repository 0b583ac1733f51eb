import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { parseAllDocuments } from "yaml";
import type { ApiObject } from "../../src/kubernetes/index.ts";
import { buildServer } from "../servers/build.ts";

const run = promisify(execFile);
export const CHART = join(import.meta.dirname, "../../deploy/chart");

/** A helm command, with `stdin` as its input; what it printed. @throws Error with what it said */
export async function helm(args: readonly string[], stdin = ""): Promise<string> {
  const program = await buildServer("helm");
  // No plugins, repositories or registry logins of the user's.
  const env = { PATH: process.env.PATH, HOME: "/nonexistent", HELM_PLUGINS: "/nonexistent" };
  const child = run(program, [...args], { env, maxBuffer: 64 * 1024 * 1024 });
  child.child.stdin?.end(stdin);
  const { stdout } = await child;
  return stdout;
}

/** What the chart renders to in the namespace, by default `sless`, in the order in which helm installs it. */
export async function renderChart(values: object = {}, namespace = "sless"): Promise<ApiObject[]> {
  const text = await helm(
    ["template", "sless", CHART, "--namespace", namespace, "--values", "-"],
    JSON.stringify(values),
  );
  return parseAllDocuments(text)
    .map((document) => document.toJSON() as ApiObject | null)
    .filter((object) => object !== null);
}
