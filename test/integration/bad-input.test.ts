import { describe, expect, it } from "vitest";
import { findCondition, type ObjectOf, type WorkloadStatus } from "../../src/apis/index.ts";
import { answering, pythonFunction, startTestApp } from "../support/embedded.ts";
import { type Files, gitRepository } from "../support/git-repository.ts";
import { httpServer } from "../support/http-server.ts";

const FOLDER = "functions/bad";
const MANIFEST = `${FOLDER}/function.yaml`;
const GOOD = pythonFunction("good", answering("good"));
const bad = (more: Files = {}, spec: Readonly<Record<string, unknown>> = {}): Files => ({
  ...pythonFunction("bad", answering("bad"), spec),
  ...more,
});
const manyFiles = (count: number): Files =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`${FOLDER}/data/${n}.txt`, ""]));
/** Not of the manifest's own making, so that no spell of its language can help it. */
const yaml = (text: string) => `apiVersion: sless.kube5s.ru/v1alpha1\n${text}`;

interface Diagnosed {
  readonly what: string;
  readonly files: Files;
  readonly at: { readonly file: string; readonly line: number };
  readonly says: RegExp;
}

const DIAGNOSED: readonly Diagnosed[] = [
  {
    what: "YAML that does not parse",
    files: bad({ [MANIFEST]: yaml("kind: Function\n  metadata: [\n") }),
    at: { file: MANIFEST, line: 2 },
    says: /does not parse/,
  },
  {
    what: "a word that is none of the enum's",
    files: bad({ [MANIFEST]: yaml("kind: Trigger\nmetadata: {name: bad}\nspec: {type: htp, functionRef: good}\n") }),
    at: { file: MANIFEST, line: 4 },
    says: /htp.*http/,
  },
  {
    what: "a runtime that is not known",
    files: bad({}, { runtime: "python2" }),
    at: { file: MANIFEST, line: 5 },
    says: /python2.*python3\.11/,
  },
  {
    what: "a number where only a larger one may stand",
    files: bad({}, { memoryMB: 1 }),
    at: { file: MANIFEST, line: 6 },
    says: /32/,
  },
  {
    what: "a name that is no DNS label",
    files: { ...bad(), [MANIFEST]: yaml("kind: Function\nmetadata: {name: Bad_Name}\nspec: {runtime: python3.11}\n") },
    at: { file: MANIFEST, line: 3 },
    says: /Bad_Name|lower-case/,
  },
  {
    what: "two functions of one name",
    files: {
      ...bad(),
      "functions/other/function.yaml": yaml("kind: Function\nmetadata: {name: bad}\nspec: {runtime: python3.11}\n"),
      "functions/other/handler.py": answering(2),
    },
    at: { file: MANIFEST, line: 2 },
    says: /functions\/other\/function\.yaml/,
  },
  {
    what: "a sourceDir that leaves the folder",
    files: bad({}, { sourceDir: "../good" }),
    at: { file: MANIFEST, line: 6 },
    says: /sourceDir|\.\./,
  },
  {
    what: "a symlink to /etc/passwd",
    files: bad({ [`${FOLDER}/passwd`]: { symlink: "/etc/passwd" } }),
    at: { file: MANIFEST, line: 2 },
    says: /^functions\/bad\/passwd points outside the source/,
  },
  {
    what: "a submodule",
    files: bad({ [`${FOLDER}/lib`]: { submodule: "1".repeat(40) } }),
    at: { file: MANIFEST, line: 2 },
    says: /^functions\/bad\/lib is a submodule/,
  },
  {
    what: "a Git LFS pointer",
    files: bad({
      [`${FOLDER}/model.bin`]: `version https://git-lfs.github.com/spec/v1\noid sha256:${"0".repeat(64)}\nsize 12345\n`,
    }),
    at: { file: MANIFEST, line: 2 },
    says: /^functions\/bad\/model\.bin is a Git LFS pointer/,
  },
  {
    what: "a file of 60 MB",
    files: bad({ [`${FOLDER}/big.bin`]: new Uint8Array(60 * 1024 * 1024) }),
    at: { file: MANIFEST, line: 2 },
    says: /60\.0 MiB, more than 50\.0 MiB/,
  },
  {
    what: "more than 3,000 files",
    files: bad(manyFiles(3_001)),
    at: { file: MANIFEST, line: 2 },
    says: /more than 3,?000 files/,
  },
  {
    what: "no file for the handler",
    files: bad({ [`${FOLDER}/handler.py`]: null, [`${FOLDER}/main.py`]: answering(1) }),
    at: { file: MANIFEST, line: 4 },
    says: /handler\.handle needs handler\.py/,
  },
];

describe("a push with", () => {
  it.each(DIAGNOSED)("$what is told where it stands, and the function beside it is deployed", async (row) => {
    const repository = await gitRepository({ ...row.files, ...GOOD });
    const { app, call, object, client } = await startTestApp(repository);
    await app.settled();
    const { status } = await object<"Repository">("repositories", "test");
    expect(status?.diagnostics?.items).toContainEqual(
      expect.objectContaining({ ...row.at, message: expect.stringMatching(row.says) }),
    );
    expect(findCondition(status?.conditions, "Ready")).toMatchObject({ status: "False", reason: "BuildFailed" });
    expect(status).not.toHaveProperty("lastAppliedRevision");
    expect((await client.list("functions", { namespace: "default" })).map(({ name }) => name)).toEqual(["good"]);
    expect(await call("good")).toEqual({ status: 200, body: "good" });
  });
});

interface Failing {
  readonly what: string;
  readonly files: Files;
  readonly reason: string;
  readonly says: RegExp;
}

const FAILING: readonly Failing[] = [
  {
    what: "raises at import",
    files: bad({ [`${FOLDER}/handler.py`]: "import json\n\nraise RuntimeError('no luck')\n" }),
    reason: "StartFailed",
    says: /handler\.py", line 3[\s\S]*RuntimeError: no luck/,
  },
  {
    what: "has a syntax error",
    files: bad({ [`${FOLDER}/handler.py`]: "import json\ndef handle(:\n" }),
    reason: "StartFailed",
    says: /handler\.py", line 2[\s\S]*SyntaxError/,
  },
  {
    what: "has no such function",
    files: bad({}, { entrypoint: "handler.other" }),
    reason: "StartFailed",
    says: /other/,
  },
  {
    what: "imports what it does not list",
    files: bad({ [`${FOLDER}/handler.py`]: "import no_such_module\n" }),
    reason: "StartFailed",
    says: /No module named 'no_such_module'/,
  },
  {
    what: "ends its process at the start",
    files: bad({ [`${FOLDER}/handler.py`]: "import os\nos._exit(3)\n" }),
    reason: "StartFailed",
    says: /exit code 3/,
  },
  {
    what: "wants a dependency that its registry does not have",
    files: bad({ [`${FOLDER}/requirements.txt`]: "sless-no-such-package==1.0\n" }),
    reason: "DependenciesFailed",
    says: /requirements\.txt[\s\S]*sless-no-such-package==1\.0/,
  },
  {
    what: "wants a secret that is not there",
    files: bad({}, { secretEnv: { TOKEN: { secret: "api", key: "token" } } }),
    reason: "SecretMissing",
    says: /api.*token/,
  },
];

describe("a function that", () => {
  it.each(FAILING)("$what fails with the reason, and the one beside it is deployed", async (row) => {
    const registry = await httpServer((_, response) => response.writeHead(404).end());
    const env = { PIP_INDEX_URL: `${registry.origin}/simple`, PIP_FIND_LINKS: "" };
    const repository = await gitRepository({ ...row.files, ...GOOD });
    const { app, call, object } = await startTestApp(repository, { env });
    await app.settled();
    const failed = await object<"Function">("functions", "bad");
    expect(failed.status).toMatchObject({ phase: "Failed", message: expect.stringMatching(row.says) });
    expect(readyOf(failed)).toMatchObject({ status: "False", reason: row.reason, message: failed.status?.message });
    expect(failed.status).not.toHaveProperty("imageRef");
    expect(await call("bad")).toMatchObject({ status: 503, body: { code: "function_not_ready" } });
    expect(await call("good")).toEqual({ status: 200, body: "good" });
    const repositoryObject = await object<"Repository">("repositories", "test");
    expect(readyOf(repositoryObject)).toMatchObject({ status: "True" });
  });

  it.each([
    ["sleeps", "import time\ndef handle(event, context):\n    time.sleep(60)\n"],
    ["awaits", "import asyncio\nasync def handle(event, context):\n    await asyncio.sleep(60)\n"],
    ["blocks", "def handle(event, context):\n    while True:\n        pass\n"],
  ])(
    "never returns, as it %s, ends with 504 and a reason, and the one beside it answers meanwhile",
    async (_, code) => {
      const repository = await gitRepository({
        ...bad({ [`${FOLDER}/handler.py`]: code }, { timeoutSec: 1 }),
        ...GOOD,
      });
      const { app, call } = await startTestApp(repository);
      await app.settled();
      const late = call("bad");
      expect(await call("good")).toEqual({ status: 200, body: "good" });
      expect(await late).toMatchObject({ status: 504, body: { reason: "function_timeout" } });
    },
  );
});

function readyOf({ status }: { status?: Pick<WorkloadStatus, "conditions"> } | ObjectOf<"Repository">) {
  return findCondition(status?.conditions, "Ready");
}
