import { execFile } from "node:child_process";
import { chmod, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { BuildState } from "../../../src/build/index.ts";
import { findInterpreter, loadRuntimes, type Runtime } from "../../../src/runtimes/index.ts";
import { requestOf } from "../../contract/builder.ts";
import { eventually } from "../../support/eventually.ts";
import { readImage } from "../../support/image-files.ts";
import { describeWithServers } from "../../support/kubernetes/index.ts";
import { type ImageBuilderTest, openImageBuilder } from "../../support/open-image-builder.ts";
import { openRegistryServer, type RegistryServer } from "../../support/registry-server.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const run = promisify(execFile);
/** Of a program whose compiler has compiled nothing before. */
const BUILD_MAX_MS = 240_000;
const ROOT = resolve(import.meta.dirname, "../../..");
const SEARCH = { path: process.env.PATH ?? "", excluded: [join(ROOT, "node_modules")] };

/** The Dockerfiles of sless's own runtimes, followed by the tools of this machine. */
describeWithServers("images of the runtimes", () => {
  let server: RegistryServer;
  let runtimes: ReadonlyMap<string, Runtime>;
  beforeAll(async () => {
    server = await openRegistryServer();
    runtimes = await loadRuntimes(join(ROOT, "runtimes"));
  }, 600_000);
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

  /** What is in an image, in a folder of this machine. */
  async function unpack({ test }: Machine, imageRef: string): Promise<string> {
    const folder = await temporaryFolder();
    const { files } = await readImage(test.registry, imageRef);
    for (const [path, { type, text, bytes, mode }] of Object.entries(files)) {
      const at = join(folder, path);
      await mkdir(type === "directory" ? at : dirname(at), { recursive: true });
      if (type === "symlink") await symlink(text, at);
      else if (type === "file") await writeFile(at, bytes);
      if (type === "file") await chmod(at, Number.parseInt(mode, 8));
    }
    return folder;
  }

  /** One run of the image's own entry point as a job, and its result. */
  async function runJob(machine: Machine, files: Readonly<Record<string, string>>): Promise<unknown> {
    const { test, runtime } = machine;
    const request = { ...(await requestOf(test, files)), runtime };
    const isOver = ({ phase }: BuildState) => phase !== "building";
    const state = await eventually("it is built", () => test.builder.ensure(request), isOver, BUILD_MAX_MS);
    if (state.phase !== "built") throw new Error(JSON.stringify(state));
    const { imageRef } = state;
    const folder = await unpack(machine, imageRef);
    const { config } = await readImage(test.registry, imageRef);
    const here = (text: string) => text.replaceAll(/(^|=)\/sless\b/g, `$1${folder}/sless`);
    const [program = "", ...args] = (config.config?.Entrypoint ?? []).map(here);
    const env = Object.fromEntries((config.config?.Env ?? []).map((line) => here(line).split(/=(.*)/s)));
    const result = join(folder, "result");
    await run(program, args, {
      cwd: here(config.config?.WorkingDir ?? ""),
      env: {
        ...env,
        SLESS_JOB: "1",
        SLESS_RESULT_FILE: result,
        SLESS_ENTRYPOINT: "handler.handle",
        SLESS_FUNCTION: "hello",
        SLESS_NAMESPACE: "demo",
      },
    });
    return JSON.parse(await readFile(result, "utf8"));
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
  }, 300_000);
});

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
