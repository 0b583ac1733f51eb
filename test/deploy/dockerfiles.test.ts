import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { expect, it } from "vitest";
import { expandCommand, expandEnv, loadRuntimes } from "../../src/runtimes/index.ts";

const ROOT = join(import.meta.dirname, "../..");
const RUNTIMES = await loadRuntimes(join(ROOT, "runtimes"));
const NUMERIC_USER = /^USER [1-9]\d*:[1-9]\d*$/m;

/** Where the images of runtimes have what `runtime.yaml` names. */
const PLACES = {
  runtime: "/sless/runtime",
  out: "/sless/image",
  source: "/sless/image/source",
  deps: "/sless/deps",
};

/** Instructions with their continued lines, without comments. */
function instructionsOf(text: string): string[] {
  return text
    .replace(/^#.*\n/gm, "")
    .replace(/\\\n\s*/g, " ")
    .split("\n")
    .filter(Boolean);
}

const dockerfileOf = (folder: string) => readFile(join(folder, "Dockerfile"), "utf8");
const servers = [...new Set([...RUNTIMES.values()].map(({ folder }) => folder))];
const served = [...RUNTIMES.values()].filter(({ build }) => !build);

it.each(served.map((runtime) => [runtime.name, runtime] as const))(
  "the image of %s starts as its runtime.yaml says",
  async (_name, runtime) => {
    const instructions = instructionsOf(await dockerfileOf(runtime.folder));
    const command = instructions.find((line) => line.startsWith("CMD "))?.slice(4);
    const possible = runtime.interpreter.commands.map((interpreter) =>
      expandCommand(runtime.start.command, { ...PLACES, interpreter }),
    );
    expect(possible).toContainEqual(JSON.parse(command!));
    const variables = instructions.filter((line) => line.startsWith("ENV ")).join(" ");
    for (const [variable, value] of Object.entries(expandEnv(runtime.start.env, PLACES)))
      expect(variables).toContain(`${variable}=${value}`);
    expect(variables).toContain(`SLESS_SOURCE=${PLACES.source}`);
    expect(variables).toContain(`SLESS_DEPS=${PLACES.deps}`);
  },
);

it.each(served.map((runtime) => [runtime.name, runtime] as const))(
  "the image of %s has what its runtime.yaml puts beside the source",
  async (_name, runtime) => {
    const text = await dockerfileOf(runtime.folder);
    for (const [file, content] of Object.entries(runtime.imageFiles ?? {}))
      expect(text).toContain(`echo '${content}' > ${PLACES.out}/${file}`);
    if (runtime.linkDeps) expect(text).toContain(`ln -s ../deps/${runtime.linkDeps} ${PLACES.out}/${runtime.linkDeps}`);
  },
);

it.each(servers.map((folder) => [basename(folder), folder] as const))(
  "the Dockerfile of %s stands on the base image of one of its runtimes",
  async (_name, folder) => {
    const text = await dockerfileOf(folder);
    const base = /^ARG BASE_IMAGE=(\S+)$/m.exec(text)?.[1];
    const bases = [...RUNTIMES.values()]
      .filter((runtime) => runtime.folder === folder)
      .map(({ baseImage }) => baseImage);
    expect(bases).toContain(base);
    expect(text).toMatch(/^FROM \$\{BASE_IMAGE\}$/m);
  },
);

it.each(served.map(({ name, folder }) => [name, folder] as const))(
  "the image of %s runs as a user without rights",
  async (_name, folder) => {
    expect(await dockerfileOf(folder)).toMatch(NUMERIC_USER);
  },
);

it("the image of sless runs as a user without rights, on the Node that the project pins", async () => {
  const text = await readFile(join(ROOT, "deploy/Dockerfile"), "utf8");
  const { devDependencies } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8"));
  expect(text).toMatch(NUMERIC_USER);
  expect(text).toContain(`ARG NODE_IMAGE=docker.io/library/node:${devDependencies.node.split(".")[0]}-slim`);
});

it("the image of sless is built of what its build context lets in", async () => {
  const instructions = instructionsOf(await readFile(join(ROOT, "deploy/Dockerfile"), "utf8"));
  const copied = instructions
    .filter((line) => line.startsWith("COPY ") && !line.includes("--from"))
    .flatMap((line) => line.split(" ").slice(1, -1));
  const ignored = (await readFile(join(ROOT, "deploy/Dockerfile.dockerignore"), "utf8")).split("\n");
  expect(ignored[0]).toBe("**");
  const letIn = ignored.filter((line) => line.startsWith("!")).map((line) => line.slice(1));
  expect(new Set(letIn)).toEqual(new Set(copied));
});
