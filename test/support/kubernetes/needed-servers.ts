import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { CONTROL_PLANE_SERVERS, isServerName, SERVERS, type ServerName } from "../../servers/servers.ts";

const TEST = resolve(import.meta.dirname, "../..");
const NEEDS_CONTROL_PLANE = /\b(describeOnCluster|describeOnOwnControlPlane|startControlPlane|testCluster)\(/;

/**
 * The servers that test files need, by their text and that of what they import below `test/`: whoever calls
 * `buildServer("<name>")` needs that one, whoever calls for a cluster all of a control plane.
 */
export async function neededServers(testFiles: readonly string[]): Promise<ServerName[]> {
  const needed = new Set<string>();
  for (const text of await reachableTexts(testFiles)) {
    if (NEEDS_CONTROL_PLANE.test(text)) for (const name of CONTROL_PLANE_SERVERS) needed.add(name);
    for (const [, name = ""] of text.matchAll(/\bbuildServer\("([a-z-]+)"\)/g)) needed.add(name);
  }
  return Object.keys(SERVERS).filter((name) => isServerName(name) && needed.has(name)) as ServerName[];
}

async function reachableTexts(testFiles: readonly string[]): Promise<string[]> {
  const seen = new Set(testFiles);
  const texts: string[] = [];
  let next = [...seen];
  while (next.length > 0) {
    const read = await Promise.all(next.map(async (file) => ({ file, text: await readFile(file, "utf8") })));
    texts.push(...read.map(({ text }) => text));
    next = [...new Set(read.flatMap(importsOf))].filter((file) => mayNeedServers(file) && !seen.has(file));
    for (const file of next) seen.add(file);
  }
  return texts;
}

function importsOf({ file, text }: { file: string; text: string }): string[] {
  return [...text.matchAll(/\bfrom "(\.[^"]+\.ts)"/g)].map(([, specifier]) => resolve(file, "..", specifier!));
}

/** This folder is reached by all who need one server of it; what they call for tells which. */
function mayNeedServers(file: string): boolean {
  return file.startsWith(`${TEST}/`) && !file.startsWith(`${import.meta.dirname}/`);
}
