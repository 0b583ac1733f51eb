import { spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startCluster } from "../../src/app/cluster/index.ts";
import { readClusterSettings } from "../../src/config/index.ts";
import { eventually } from "../support/eventually.ts";
import { freePorts } from "../support/free-ports.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { watchChild } from "../support/watched-child.ts";

const SLESS = join(import.meta.dirname, "../../bin/sless.js");

/** A kubeconfig of a server that is not there. */
async function kubeconfigOfNobody(port: number): Promise<string> {
  const file = join(await temporaryFolder(), "kubeconfig");
  const cluster = { server: `https://127.0.0.1:${port}`, "insecure-skip-tls-verify": true };
  const content = {
    ...{ apiVersion: "v1", kind: "Config", "current-context": "test" },
    clusters: [{ name: "test", cluster }],
    users: [{ name: "test", user: { token: "token" } }],
    contexts: [{ name: "test", context: { cluster: "test", user: "test" } }],
  };
  await writeFile(file, JSON.stringify(content));
  return file;
}

it("a start that nobody wants any more when it begins ends, and leaves the port free", async () => {
  const [port, nobody] = (await freePorts(2)) as [number, number];
  const settings = readClusterSettings({
    KUBECONFIG: await kubeconfigOfNobody(nobody),
    PORT: String(port),
    LISTEN_ADDRESS: "127.0.0.1",
    SLESS_DATA: await temporaryFolder(),
    LOG_LEVEL: "silent",
  });
  const signal = AbortSignal.abort(new Error("told to end"));
  await expect(startCluster({ roles: ["gateway"], settings, signal })).rejects.toThrow("told to end");
  await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow();
});

/** Node sees an end of its own, of a process that nothing keeps alive, before that ends. */
const TELLS_ITS_END = `data:text/javascript,process.on("beforeExit", () => console.log("by itself"))`;

it.each(["gateway", "controller", "serve"])(
  "sless %s that waits for the API server ends by itself when it is told to, as one that serves does",
  async (verb) => {
    const [port, nobody] = (await freePorts(2)) as [number, number];
    const env = {
      PATH: process.env.PATH ?? "",
      KUBECONFIG: await kubeconfigOfNobody(nobody),
      PORT: String(port),
      LISTEN_ADDRESS: "127.0.0.1",
      SLESS_DATA: await temporaryFolder(),
      GATEWAY_URL: `http://127.0.0.1:${nobody}`,
    };
    const child = spawn(process.execPath, ["--import", TELLS_ITS_END, SLESS, verb], {
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const { closed, output } = watchChild(child);
    const health = () =>
      fetch(`http://127.0.0.1:${port}/healthz`).then(
        ({ status }) => status,
        () => 0,
      );
    await eventually("it lives", health, (status) => status === 200);
    child.kill("SIGTERM");
    expect(await closed()).toEqual({ code: 0, signal: null });
    expect(output()).toMatch(/^by itself$/m);
  },
);
