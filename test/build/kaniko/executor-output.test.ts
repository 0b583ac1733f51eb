import { expect, it } from "vitest";
import {
  commandIn,
  executorFailure,
  programOf,
  stepIn,
  tailOf,
  withoutCredentials,
} from "../../../src/build/kaniko/executor-output.ts";

const ESC = String.fromCharCode(27);
const RUN =
  'RUN ["/bin/sh","-c","mkdir -p /tmp/x && \\"$@\\"; code=$?","sh","env","HOME=/tmp/x","PIP_INDEX_URL=https://pypi.org/simple","python3","-m","pip","install","-r","requirements.txt"]';

it.each([
  ["a command of sless's own Dockerfiles", `INFO[0007] ${RUN}`, "running python3 -m pip install -r requirements.txt"],
  ["a command in a shell", "INFO[0000] RUN npm ci  --omit=dev", "running npm ci --omit=dev"],
  ["a shell in the other form", 'INFO[0000] RUN ["/bin/sh","-c","npm ci"]', "running npm ci"],
  ["a program", 'INFO[0000] RUN ["npm","ci"]', "running npm ci"],
  ["a coloured line", `${ESC}[36mINFO${ESC}[0m[0001] RUN npm ci`, "running npm ci"],
  ["a long command", `INFO[0000] RUN ${"x".repeat(200)}`, `running ${"x".repeat(59)}…`],
  ["a base image", "INFO[0000] Unpacking rootfs as cmd RUN npm ci requires it.", "pulling the base image"],
  ["the last work", "INFO[0009] Taking snapshot of full filesystem...", "putting the result together"],
  ["a command's own words", "RUN away", undefined],
  ["another line of the executor", "INFO[0000] Built cross stage deps: map[]", undefined],
  ["a broken list", 'INFO[0000] RUN ["npm",', 'running ["npm",'],
])("the step of %s", (_name, line, step) => {
  expect(stepIn(line)).toBe(step);
});

it("a module of Python is the program that people know", () => {
  expect(programOf(commandIn(`INFO[0007] ${RUN}`))).toBe("pip");
  expect(programOf(["/usr/local/bin/npm", "ci"])).toBe("npm");
  expect(programOf()).toBe("a command");
});

const FAILED = "error building image: error building stage: failed to execute command:";
it.each([
  [
    "a command's exit code",
    `${FAILED} waiting for process to exit: exit status 3`,
    "command",
    "",
    "npm ended with exit code 3",
  ],
  [
    "a command's signal",
    `${FAILED} waiting for process to exit: signal: terminated`,
    "command",
    "",
    "npm ended with signal terminated",
  ],
  [
    "a command that is not there",
    `${FAILED} starting command: fork/exec /bin/nosuch: no such file or directory`,
    "command",
    "",
    "failed to execute command: starting command: fork/exec /bin/nosuch: no such file or directory",
  ],
  [
    "a command that was killed",
    `${FAILED} waiting for process to exit: signal: killed`,
    "builder",
    "OutOfMemory",
    "npm was killed",
  ],
  [
    "a command whose child was killed",
    `${FAILED} waiting for process to exit: exit status 137`,
    "builder",
    "OutOfMemory",
    "npm was killed",
  ],
  [
    "a command without space",
    `write /x: No space left on device\n${FAILED} waiting for process to exit: exit status 1`,
    "builder",
    "DiskFull",
    undefined,
  ],
  [
    "a snapshot without space",
    "error building image: failed to take snapshot: write /kaniko/1: no space left on device",
    "builder",
    "DiskFull",
    undefined,
  ],
  [
    "files that are not there",
    'error resolving source context: Get "https://s3/x": 404',
    "builder",
    "ContextUnavailable",
    'Get "https://s3/x": 404',
  ],
  [
    "a base image that is not there",
    "error building image: failed to retrieve image python:9: manifest unknown",
    "builder",
    "BaseImageUnavailable",
    "failed to retrieve image python:9: manifest unknown",
  ],
  [
    "a base image that is not ours",
    "error building image: GET https://r/v2/a/manifests/1: UNAUTHORIZED: authentication required",
    "builder",
    "BaseImageUnavailable",
    undefined,
  ],
  [
    "anything else",
    "error building image: parsing dockerfile: no build stage in it",
    "builder",
    "BuilderFailed",
    "parsing dockerfile: no build stage in it",
  ],
  [
    "a flag that it does not know",
    "Error: unknown flag: --image-format",
    "builder",
    "BuilderFailed",
    "Error: unknown flag: --image-format",
  ],
])("the failure of %s", (_name, output, by, reason, cause) => {
  expect(executorFailure(`INFO[0000] RUN npm ci\nadded 0 packages\n${output}\n`, ["npm", "ci"])).toMatchObject({
    by,
    reason,
    ...(cause === undefined ? {} : { cause }),
  });
});

it("an executor that said nothing is told as that", () => {
  expect(executorFailure("", undefined)).toMatchObject({ by: "builder", cause: "it ended without a word" });
});

it("the tail is what commands printed last, of bounded size", () => {
  const lines = Array.from({ length: 100 }, (_, index) => `line ${index}`);
  const output = ["INFO[0000] RUN npm ci", ...lines, "INFO[0001] Taking snapshot", `${FAILED} exit status 1`].join(
    "\n",
  );
  expect(tailOf(output).split("\n")).toEqual(lines.slice(-40));
  expect(tailOf("x".repeat(100_000)).length).toBeLessThan(5_000);
  expect(tailOf("")).toBe("");
});

it("no credentials stand in what is told", () => {
  const text =
    "Get https://ada:pw@pypi.org/x and https://s3/b/k?X-Amz-Credential=AKIA%2F1&X-Amz-Signature=abc&x=1: 403";
  expect(withoutCredentials(text)).toBe(
    "Get https://***@pypi.org/x and https://s3/b/k?X-Amz-Credential=***&X-Amz-Signature=***&x=1: 403",
  );
});
