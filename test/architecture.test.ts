import { readdir, readFile } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { expect, it } from "vitest";

const SRC = resolve(import.meta.dirname, "../src");
const PORTS = ["apis", "errors", "report", "resources", "storage", "build", "platform", "controller", "runtimes"];

/** The table of docs/architecture.md. `app` may import everything. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  apis: [],
  disk: [],
  errors: [],
  report: ["apis"],
  manifest: ["apis", "errors"],
  plan: ["apis", "errors"],
  source: ["apis", "errors"],
  runtimes: ["apis", "errors"],
  processes: ["errors"],
  desired: ["apis", "errors", "manifest", "plan", "source", "runtimes"],
  writes: ["apis", "errors", "desired", "resources", "runtimes", "source"],
  pull: ["apis", "errors", "manifest", "plan", "source", "desired"],
  rollback: ["apis", "errors", "source", "desired", "pull"],
  registry: ["errors", "controller/clock", "controller/slots"],
  kubernetes: ["errors", "controller/clock", "controller/back-off", "controller/lease-store"],
  resources: ["apis", "errors", "controller/clock", "kubernetes"],
  storage: ["disk", "errors"],
  build: [
    "apis",
    "errors",
    "storage",
    "runtimes",
    "source",
    "processes",
    "registry",
    "controller/clock",
    "controller/slots",
    "kubernetes",
    "tenancy",
  ],
  garbage: ["apis", "errors", "controller/clock", "kubernetes", "registry", "resources", "storage"],
  platform: [
    "apis",
    "disk",
    "errors",
    "processes",
    "kubernetes",
    "controller/clock",
    "controller/slots",
    "controller/back-off",
  ],
  controller: ["apis", "errors", "resources"],
  sync: ["apis", "errors", "report", "desired", "plan", "source", "resources", "storage", "controller", "runtimes"],
  routes: ["apis", "errors", "controller/clock", "kubernetes"],
  reconcilers: [...PORTS, "routes"],
  gateway: ["apis", "auth", "errors", "resources", "controller", "platform"],
  leader: ["apis", "auth", "errors", "controller/clock", "garbage", "kubernetes", "writes"],
  schedule: ["apis", "errors", "report", "resources", "controller", "gateway"],
  "kubernetes-secrets": ["apis", "errors", "controller/clock", "kubernetes", "server/secret-store"],
  "kubernetes-events": ["apis", "errors", "report", "controller", "kubernetes"],
  tenancy: ["apis", "errors", "controller", "kubernetes"],
  auth: ["apis", "errors", "controller/clock", "kubernetes"],
  hooks: ["apis", "errors", "controller", "resources"],
  server: [...PORTS, "auth", "garbage", "gateway", "hooks", "plan", "source", "sync", "writes"],
  cli: [
    "apis",
    "errors",
    "plan",
    "manifest",
    "source",
    "desired",
    "runtimes",
    "report",
    "config",
    "pull",
    "rollback",
    "build/plan/index",
    "server/client",
  ],
  config: ["apis", "errors"],
};

const ADAPTERS = [
  "garbage/kubernetes",
  "leader/kubernetes",
  "routes/kubernetes",
  "auth/kubernetes",
  "source/isomorphic",
  "source/native",
  "source/worktree",
  "resources/embedded",
  "resources/kubernetes",
  "storage/filesystem",
  "storage/s3",
  "build/local",
  "build/images",
  "build/kaniko",
  "platform/process",
  "platform/kubernetes",
];

interface Import {
  readonly file: string;
  /** Path below `src/` of what is imported, without extension. */
  readonly target: string;
}

async function importsBelow(folder: string): Promise<Import[]> {
  const files = (await readdir(join(SRC, folder), { recursive: true })).filter((name) => name.endsWith(".ts"));
  const lists = await Promise.all(
    files.map(async (name) => {
      const file = join(SRC, folder, name);
      const text = await readFile(file, "utf8");
      const specifiers = [...text.matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)].map((match) => match[1]!);
      return specifiers.map((specifier) => ({
        file: join(folder, name),
        target: relative(SRC, resolve(file, "..", specifier)).replace(/\.ts$/, ""),
      }));
    }),
  );
  return lists.flat();
}

const folderOf = (target: string) => target.split("/")[0]!;

/** Faces: a folder's index, or a named file that the table allows for itself. */
function isAllowed(target: string, allowed: readonly string[]): boolean {
  return allowed.includes(target) || (allowed.includes(folderOf(target)) && target === `${folderOf(target)}/index`);
}

it.each(Object.entries(MAY_IMPORT))("src/%s imports only what the architecture allows", async (folder, allowed) => {
  const foreign = (await importsBelow(folder)).filter(
    ({ target }) => folderOf(target) !== folder && !isAllowed(target, allowed),
  );
  expect(foreign).toEqual([]);
});

it("every folder of src stands in the table", async () => {
  const folders = (await readdir(SRC, { withFileTypes: true })).filter((entry) => entry.isDirectory());
  const unknown = folders
    .map((entry) => entry.name)
    .filter((name) => name !== "app" && !Object.hasOwn(MAY_IMPORT, name));
  expect(unknown).toEqual([]);
});

it("adapters are named only by the composition roots", async () => {
  const imports = (await Promise.all(Object.keys(MAY_IMPORT).map(importsBelow))).flat();
  const named = imports.filter(({ file, target }) =>
    ADAPTERS.some((adapter) => target.startsWith(`${adapter}/`) && !file.startsWith(`${adapter}/`)),
  );
  expect(named).toEqual([]);
});

async function sourcesBelow(folder: string): Promise<{ file: string; text: string }[]> {
  const names = (await readdir(join(SRC, folder), { recursive: true })).filter((name) => name.endsWith(".ts"));
  return Promise.all(
    names.map(async (name) => ({ file: join(folder, name), text: await readFile(join(SRC, folder, name), "utf8") })),
  );
}

it.each(["manifest", "plan"])("src/%s is pure: no file system, no process, no clock", async (folder) => {
  const impure = (await sourcesBelow(folder)).filter(({ text }) =>
    /node:(fs|child_process|net|http|timers)|Date\.now|new Date\(\)|performance\.now|Math\.random/.test(text),
  );
  expect(impure.map(({ file }) => file)).toEqual([]);
});

it("only src/config and the entry point read the process's environment", async () => {
  const readers = (await sourcesBelow(".")).filter(({ text }) => /\bprocess\.env\b/.test(text)).map(({ file }) => file);
  expect(readers.filter((file) => !file.startsWith("config/") && file !== "app/sless.ts")).toEqual([]);
});
