import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { expect, it } from "vitest";

const ROOT = resolve(import.meta.dirname, "../..");
const read = (path: string) => readFile(resolve(ROOT, path), "utf8");

interface Package {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

it("every dependency is pinned and has a line of reason, and no line is left over", async () => {
  const { dependencies, devDependencies } = JSON.parse(await read("package.json")) as Package;
  const all = { ...dependencies, ...devDependencies };
  const reasons = (await read("docs/dependencies.md")).split("\n").filter((line) => line.startsWith("| `"));
  const explained = reasons.flatMap((line) => [...line.split("|")[1]!.matchAll(/`([^`]+)`/g)].map(([, name]) => name));
  expect(explained.sort()).toEqual(Object.keys(all).sort());
  for (const version of Object.values(all)) expect(version).toMatch(/^\d+\.\d+\.\d+$/);
});

it("the install scripts that npm must run are named", async () => {
  const { allowScripts } = JSON.parse(await read("package.json")) as {
    allowScripts: Readonly<Record<string, boolean>>;
  };
  expect(allowScripts).toMatchObject({ node: true });
});

it("the package asks for the Node that its command asks for", async () => {
  const { engines } = JSON.parse(await read("package.json")) as { engines: { node: string } };
  const [, needed] = /PACKAGE_NODE_MIN = (\d+);/.exec(await read("bin/sless.js")) ?? [];
  expect(engines.node).toBe(`>=${needed}`);
});
