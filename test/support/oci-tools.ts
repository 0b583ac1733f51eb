import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { buildServer } from "../servers/build.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const run = promisify(execFile);

/** An image as it lies on a disk to be run (OCI runtime specification). */
export interface Bundle {
  /** The files of all of its layers. */
  readonly rootfs: string;
  readonly process: {
    readonly args: readonly string[];
    readonly env: readonly string[];
    readonly cwd: string;
    readonly user: { readonly uid: number; readonly gid: number };
  };
}

/** What skopeo tells of an image. */
export async function inspectImage(imageRef: string): Promise<Record<string, unknown>> {
  const stdout = await skopeo("inspect", "--tls-verify=false", `docker://${imageRef}`);
  return JSON.parse(stdout) as Record<string, unknown>;
}

/** Pulls an image by skopeo and unpacks it by umoci: none of it is read by code of sless. It goes with the test. */
export async function unpackImage(imageRef: string): Promise<Bundle> {
  const [umoci, folder] = await Promise.all([buildServer("umoci"), temporaryFolder()]);
  const layout = join(folder, "image");
  await skopeo("copy", "--src-tls-verify=false", `docker://${imageRef}`, `oci:${layout}:v1`);
  // Owners are only for root to give.
  const rootless = process.getuid?.() === 0 ? [] : ["--rootless"];
  const bundle = join(folder, "bundle");
  await run(umoci, ["unpack", ...rootless, "--image", `${layout}:v1`, bundle], { env: { HOME: folder } });
  const config = JSON.parse(await readFile(join(bundle, "config.json"), "utf8")) as Pick<Bundle, "process">;
  return { rootfs: join(bundle, "rootfs"), process: config.process };
}

async function skopeo(...args: readonly string[]): Promise<string> {
  const [program, home] = await Promise.all([buildServer("skopeo"), temporaryFolder()]);
  const env = { HOME: home, TMPDIR: home, XDG_RUNTIME_DIR: home };
  const { stdout } = await run(program, ["--insecure-policy", ...args], { env });
  return stdout;
}
