import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createClient } from "../../src/server/client.ts";
import { callFunction, pythonFunction } from "../support/embedded.ts";
import { eventually } from "../support/eventually.ts";
import { gitRepository } from "../support/git-repository.ts";
import { PLURAL_OF, type SlessProcess, startSless } from "../support/sless-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { testCli } from "../support/test-cli.ts";

const OLD = "old-s3cr3t-of-the-test";
const NEW = "new-s3cr3t-of-the-test";
const secretEnv = { TOKEN: { secret: "api", key: "token" } };
const digest = (value: string) => createHash("sha256").update(value).digest("hex");

const USES = `import hashlib, os
def handle(event, context):
    return {"digest": hashlib.sha256(os.environ["TOKEN"].encode()).hexdigest()}
`;
/** Tells it to whoever reads its output: its own affair, and no reason to write it into a status. */
const TELLS = `import os
raise ValueError("cannot log in with " + os.environ["TOKEN"])
`;

/** Paths below a folder of the files that hold one of the values. */
async function filesWith(folder: string, values: readonly string[]): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const found = files.map(async (file) => {
    const text = await readFile(file, "latin1").catch(() => "");
    return values.some((value) => text.includes(value)) ? [file.slice(folder.length + 1)] : [];
  });
  return (await Promise.all(found)).flat().sort();
}

/** Everything that the server tells of its objects. */
async function toldBy({ url }: SlessProcess): Promise<string> {
  const lists = [...Object.values(PLURAL_OF), "secrets", "events"];
  const paths = [
    ...lists.flatMap((plural) => [
      `/v1/namespaces/default/${plural}`,
      `/v1/namespaces/default/${plural}?output=object`,
    ]),
    "/v1/namespaces/default/repositories/work/plan",
    "/v1/namespaces/default/secrets/api",
    "/v1/namespaces/default/functions/uses/logs",
    "/v1/namespaces/default/functions/uses/logs?build=true",
    "/v1/namespaces/default/functions/uses/source",
    "/metrics",
    "/readyz",
    "/funcs/default",
    "/fn/default/tells",
    "/v1/namespaces/default/secrets/none",
  ];
  return (await Promise.all(paths.map(async (path) => (await fetch(url + path)).text()))).join("\n");
}

it("a secret reaches the functions that name it, is followed when it changes, and stands nowhere else", async () => {
  const repository = await gitRepository({
    ...pythonFunction("uses", USES, { secretEnv }),
    ...pythonFunction("tells", TELLS, { secretEnv }),
  });
  const data = join(await temporaryFolder(), "data");
  const sless = await startSless(repository.dir, { data, env: { LOG_LEVEL: "debug" } });
  await sless.ready();
  const cli = (argv: string[], stdin = "") =>
    testCli([...argv, "--endpoint", sless.url], { deps: { createClient }, stdin });
  const told = [await cli(["secret", "set", "api", "token=-"], `${OLD}\n`)];
  expect(told[0]).toMatchObject({ code: 0, stdout: "secret/api  token\n" });
  await sless.settled(repository.head);
  const call = () => callFunction(`${sless.url}/fn/default/uses`);
  expect(await call()).toEqual({ status: 200, body: { digest: digest(OLD) } });

  told.push(await cli(["secret", "set", "api", "token=-"], NEW));
  const answers = new Set<string>();
  await eventually(
    "the new value serves",
    async () => {
      const answer = await call();
      answers.add(JSON.stringify(answer));
      return answer;
    },
    ({ body }) => (body as { digest?: string }).digest === digest(NEW),
  );
  const right = [OLD, NEW].map((value) => JSON.stringify({ status: 200, body: { digest: digest(value) } }));
  expect([...answers].filter((answer) => !right.includes(answer))).toEqual([]);

  const broken = async () => (await sless.client.get("functions", "tells", { namespace: "default" })).message ?? "";
  const message = await eventually("its failure is told", broken, (text) => text.includes("cannot log in with"));
  expect(message).toContain("cannot log in with ***");
  told.push(
    await cli(["secret", "list"]),
    await cli(["describe", "function", "tells"]),
    await cli(["get", "functions"]),
  );
  const all = [
    await toldBy(sless),
    sless.output(),
    JSON.stringify(told),
    execFileSync("ps", ["-eo", "args="], { encoding: "utf8" }),
  ].join("\n");
  for (const value of [OLD, NEW]) expect(all).not.toContain(value);
  const where = ["logs/default/Function-tells.log", "secrets/default/api/token"];
  // Folders of replicas come and go while it looks.
  const found = () => filesWith(data, [OLD, NEW]).catch(String);
  await eventually("it stands there alone", found, (paths) => JSON.stringify(paths) === JSON.stringify(where));
});

it("a function waits for its secret, says which one, and serves once it is there", async () => {
  const repository = await gitRepository(pythonFunction("uses", USES, { secretEnv }));
  const sless = await startSless(repository.dir, { data: join(await temporaryFolder(), "data") });
  await sless.ready();
  const read = () => sless.client.get("functions", "uses", { namespace: "default" }).catch(() => undefined);
  const waiting = await eventually("it waits", read, (item) => item?.phase === "Failed");
  expect(waiting?.message).toContain("Secret api has no key token. Write it with `sless secret set api token=-`");
  await sless.client.writeSecret("api", { token: NEW }, { namespace: "default", replace: true });
  await eventually("it serves", read, (item) => item?.phase === "Ready");
  expect(await callFunction(`${sless.url}/fn/default/uses`)).toEqual({ status: 200, body: { digest: digest(NEW) } });
});
