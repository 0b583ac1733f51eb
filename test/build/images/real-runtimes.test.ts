import { execFile } from "node:child_process";
import { chmod, mkdir, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { BuildState } from "../../../src/build/index.ts";
import { findProgram } from "../../../src/processes/index.ts";
import { findInterpreter, loadRuntimes, type Runtime } from "../../../src/runtimes/index.ts";
import { requestOf } from "../../contract/builder.ts";
import { eventually } from "../../support/eventually.ts";
import { buildServers, describeWithServers } from "../../support/kubernetes/index.ts";
import { type Bundle, unpackImage } from "../../support/oci-tools.ts";
import { type ImageBuilderTest, openImageBuilder } from "../../support/open-image-builder.ts";
import { openRegistryServer, type RegistryServer } from "../../support/registry-server.ts";

const run = promisify(execFile);
/** Of a program whose compiler has compiled nothing before. */
const BUILD_MAX_MS = 240_000;
const ROOT = resolve(import.meta.dirname, "../../..");
const SEARCH = { path: process.env.PATH ?? "", excluded: [join(ROOT, "node_modules")] };

/** The Dockerfiles of sless's own runtimes, followed by the tools of this machine; what is run is what umoci unpacked. */
describeWithServers("images of the runtimes", () => {
  let server: RegistryServer;
  let runtimes: ReadonlyMap<string, Runtime>;
  beforeAll(async () => {
    await buildServers(["skopeo", "umoci"]);
    server = await openRegistryServer();
    runtimes = await loadRuntimes(join(ROOT, "runtimes"));
  });
  afterAll(() => server?.close());

  interface Machine {
    readonly test: ImageBuilderTest;
    readonly runtime: Runtime;
  }

  /** Commands of the runtime stand for what they are in its base image; undefined without its interpreter. */
  async function openWith(name: string): Promise<Machine | undefined> {
    const wanted = runtimes.get(name)!;
    const found = await findInterpreter(wanted, SEARCH);
    if (!found) return undefined;
    const test = await openImageBuilder(server.host, { addresses: { PIP_NO_INDEX: "1", GOCACHE: await goCache() } });
    const base = test.runtime.baseImage;
    const interpreter = { ...wanted.interpreter, commands: [found.path] };
    return { test, runtime: { ...wanted, interpreter, baseImage: base, ...(wanted.runImage && { runImage: base }) } };
  }

  /** One run of the image's own entry point as a job, and its result. */
  async function runJob(machine: Machine, files: Readonly<Record<string, string>>): Promise<unknown> {
    const { test, runtime } = machine;
    const request = { ...(await requestOf(test, files)), runtime };
    const isOver = ({ phase }: BuildState) => phase !== "building";
    const state = await eventually("it is built", () => test.builder.ensure(request), isOver, BUILD_MAX_MS);
    if (state.phase !== "built") throw new Error(JSON.stringify(state));
    return runOnce(await unpackImage(state.imageRef), { isProgram: runtime.build !== undefined });
  }

  it("python runs with a package of the source's own that pip installed", async (context) => {
    const machine = await openWith("python3.11");
    if (!machine) return context.skip("needs python");
    const files = {
      "handler.py": "import own\ndef handle(event): return {'value': own.VALUE}",
      "requirements.txt": "./package\n",
      "package/pyproject.toml": '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n',
      "package/backend.py": WHEEL_BACKEND,
    };
    expect(await runJob(machine, files)).toEqual({ value: 7 });
  });

  it("node runs with a package of the source's own that npm installed, and with what a script made", async (context) => {
    const machine = await openWith("nodejs20");
    if (!machine) return context.skip("needs node");
    const files = {
      "handler.js": 'exports.handle = () => ({ value: require("own").value, made: require("./made.json") });',
      "package.json": JSON.stringify({
        dependencies: { own: "file:./own" },
        scripts: { prepare: "echo 8 > made.json" },
      }),
      "own/package.json": JSON.stringify({ name: "own", version: "1.0.0" }),
      "own/index.js": "exports.value = 7;",
    };
    expect(await runJob(machine, files)).toEqual({ value: 7, made: 8 });
  });

  it("go runs as a program without its compiler", async (context) => {
    const machine = await openWith("go1.26");
    if (!machine) return context.skip("needs go");
    const code = 'package hello\n\nfunc Handle() (map[string]int, error) { return map[string]int{"value": 7}, nil }\n';
    expect(await runJob(machine, { "handler.go": code })).toEqual({ value: 7 });
  });
});

/**
 * Runs what an image starts, as a job. A program needs nothing of its base, and runs in a root that has only the image; an
 * interpreter is this machine's, and paths of the image stand for those of the folder.
 */
async function runOnce({ rootfs, process: wanted }: Bundle, { isProgram }: { isProgram: boolean }): Promise<unknown> {
  const chroot = findProgram("chroot", "/usr/sbin:/usr/bin:/sbin:/bin");
  const isInside = isProgram && chroot !== undefined && process.getuid?.() === 0;
  const here = (text: string) => (isInside ? text : text.replaceAll(/(^|=)\/sless\b/g, `$1${rootfs}/sless`));
  const { uid, gid } = wanted.user;
  const inside = isInside ? [chroot, `--userspec=${uid}:${gid}`, rootfs] : [];
  const [program = "", ...args] = [...inside, ...wanted.args.map(here)];
  await mkdir(join(rootfs, "result"));
  await chmod(join(rootfs, "result"), 0o777);
  const env = {
    ...Object.fromEntries(wanted.env.map((line) => here(line).split(/=(.*)/s))),
    SLESS_JOB: "1",
    SLESS_RESULT_FILE: `${isInside ? "" : rootfs}/result/file`,
    SLESS_ENTRYPOINT: "handler.handle",
    SLESS_FUNCTION: "hello",
    SLESS_NAMESPACE: "demo",
  };
  await run(program, args, { cwd: join(rootfs, wanted.cwd), env });
  return JSON.parse(await readFile(join(rootfs, "result/file"), "utf8"));
}

/** Without it the standard library would be compiled anew. */
async function goCache(): Promise<string> {
  const { stdout } = await run("go", ["env", "GOCACHE"]).catch(() => ({ stdout: "" }));
  return stdout.trim();
}

/** A build backend that needs nothing: it writes a wheel of one module. */
const WHEEL_BACKEND = `
import zipfile
def build_wheel(folder, config=None, metadata=None):
    name = "own-1.0-py3-none-any.whl"
    info = "own-1.0.dist-info/"
    with zipfile.ZipFile(f"{folder}/{name}", "w") as wheel:
        wheel.writestr("own.py", "VALUE = 7")
        wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\\nName: own\\nVersion: 1.0\\n")
        wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr(info + "RECORD", "")
    return name
`;
