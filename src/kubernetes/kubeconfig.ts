import { accessSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { KubeConfig } from "@kubernetes/client-node";
import { parse } from "yaml";
import { SlessError } from "../errors/index.ts";

/** Where a kubeconfig is taken from: a file, or the service account that the pod runs with. */
export type KubeConfigSource = { readonly file: string; readonly context?: string } | "in-cluster";

export interface LoadedKubeConfig {
  readonly config: KubeConfig;
  /** Of the current user, as an absolute path. The library knows nothing of it. */
  readonly tokenFile: string | undefined;
}

/** @throws SlessError `settings_invalid` when it cannot be read or names no cluster; never with what stands in it */
export function loadKubeConfig(source: KubeConfigSource): LoadedKubeConfig {
  const config = new KubeConfig();
  let tokenFile: string | undefined;
  try {
    if (source === "in-cluster") {
      config.loadFromCluster();
      // The library makes an address of nothing where there is no pod.
      accessSync(config.getCurrentUser()?.authProvider?.config.tokenFile);
    } else {
      config.loadFromFile(source.file);
      if (source.context !== undefined) config.setCurrentContext(source.context);
      tokenFile = tokenFileOf(source.file, config.getCurrentUser()?.name);
    }
  } catch (error) {
    throw new SlessError("settings_invalid", { cause: `${nameOf(source)} cannot be read: ${reasonOf(error)}` });
  }
  if (!config.getCurrentCluster()?.server)
    throw new SlessError("settings_invalid", { cause: `the current context of ${nameOf(source)} names no cluster` });
  return { config, tokenFile };
}

function nameOf(source: KubeConfigSource): string {
  return source === "in-cluster" ? "the pod's service account" : `the kubeconfig ${source.file}`;
}

/** Messages of YAML parsers show the line that they are about, which may hold a token. */
function reasonOf(error: unknown): string {
  const { code } = error as { code?: unknown };
  return typeof code === "string" && /^E[A-Z]+$/.test(code) ? code : "it is no valid kubeconfig";
}

interface RawKubeConfig {
  readonly users?: readonly { readonly name?: unknown; readonly user?: { readonly tokenFile?: unknown } }[];
}

function tokenFileOf(file: string, userName: string | undefined): string | undefined {
  const raw = parse(readFileSync(file, "utf8")) as RawKubeConfig;
  const path = raw.users?.find(({ name }) => name === userName)?.user?.tokenFile;
  return typeof path === "string" && path !== "" ? resolve(dirname(file), path) : undefined;
}
