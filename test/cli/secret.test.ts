import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { type TestCliOptions, testCli } from "../support/test-cli.ts";

type Written = [string, Record<string, string | null>, unknown];

/** Runs a line against a client that keeps what is written. */
async function run(argv: readonly string[], options: TestCliOptions = {}) {
  const written: Written[] = [];
  const client: TestCliOptions["client"] = {
    writeSecret: async (name, values, call) => {
      written.push([name, { ...values }, call]);
      return { namespace: call.namespace, name, keys: Object.keys(values) };
    },
    deleteSecret: async (name, call) => void written.push([name, {}, call]),
    listSecrets: async ({ namespace }) => [
      { namespace, name: "api", keys: ["token", "user"] },
      { namespace, name: "empty", keys: [] },
    ],
  };
  return { ...(await testCli(["secret", ...argv], { client, ...options })), written };
}

it("values come from the line, from files as they are, and from stdin without its last line end", async () => {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, "ca.pem"), "-----BEGIN\n");
  const argv = ["set", "api", "user=ada", "query=a=b", "empty=", "ca.crt=@ca.pem", "token=-"];
  const { code, stdout, written } = await run(argv, { cwd, stdin: "t-1\n" });
  expect(code).toBe(0);
  const values = { user: "ada", query: "a=b", empty: "", "ca.crt": "-----BEGIN\n", token: "t-1" };
  expect(written).toEqual([["api", values, { namespace: "default", replace: false }]]);
  expect(stdout).toBe("secret/api  user, query, empty, ca.crt, token\n");
});

it("set --replace replaces the secret, in the namespace that is named", async () => {
  const { written } = await run(["set", "api", "a=1", "--replace", "-n", "team"]);
  expect(written).toEqual([["api", { a: "1" }, { namespace: "team", replace: true }]]);
});

it("somebody at a terminal is asked for the value", async () => {
  const { stderr, written } = await run(["set", "api", "token=-"], { terminal: 80, stdin: "typed\n" });
  expect(stderr).toContain("Value of token");
  expect(written[0]?.[1]).toEqual({ token: "typed" });
});

const refused: Record<string, [string[], string]> = {
  "no value": [["set", "api"], "missing required argument 'values'"],
  "a value without a key": [["set", "api", "a=1", "geheim"], "value 2 is not key=value, key=@file or key=-"],
  "an empty key": [["set", "api", "=geheim"], "value 1 is not key=value"],
  "a key twice": [["set", "api", "token=geheim", "token=geheim2"], "key token is given twice"],
  "stdin twice": [["set", "api", "a=-", "b=-"], "stdin can be the value of one key only"],
  "a name that leads elsewhere": [["set", "../api", "a=geheim"], '"../api" is no name of a secret: use lower-case'],
  "a name in capitals": [["set", "API", "a=geheim"], '"API" is no name of a secret: use lower-case'],
  "a file that is not there": [["set", "api", "a=@none.pem"], "none.pem cannot be read"],
};
it.each(Object.entries(refused))("%s is refused without showing a value", async (_, [argv, message]) => {
  const { code, stdout, stderr, written } = await run(argv, { stdin: "geheim" });
  expect({ code, stdout, written }).toEqual({ code: 2, stdout: "", written: [] });
  expect(stderr).toContain(message);
  expect(stderr).not.toContain("geheim");
});

it("bytes that are no text, and more than a value holds, are refused", async () => {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, "key.der"), Buffer.from([0xff, 0xfe, 0x00]));
  await writeFile(join(cwd, "large"), "x".repeat(256 * 1024 + 1));
  expect((await run(["set", "api", "k=@key.der"], { cwd })).stderr).toContain("the value of k is no text; encode it");
  expect((await run(["set", "api", "k=@large"], { cwd })).stderr).toContain("The value of k is larger than 256 KiB");
});

it("list shows names and keys", async () => {
  expect((await run(["list"])).stdout).toBe("NAME   KEYS\napi    token, user\nempty  -\n");
  expect((await run(["list", "-o", "name"])).stdout).toBe("secret/api\nsecret/empty\n");
  expect(JSON.parse((await run(["list", "-o", "json", "-n", "team"])).stdout).items[0]).toEqual({
    namespace: "team",
    name: "api",
    keys: ["token", "user"],
  });
});

it("an empty list says so on stderr", async () => {
  const { code, stdout, stderr } = await testCli(["secret", "list"], { client: { listSecrets: async () => [] } });
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "", stderr: "No secrets in namespace default.\n" });
});

it("delete takes the whole secret, or only keys", async () => {
  expect(await run(["delete", "api"])).toMatchObject({
    stdout: "secret/api deleted\n",
    written: [["api", {}, { namespace: "default" }]],
  });
  expect(await run(["delete", "api", "token", "user"])).toMatchObject({
    stdout: "secret/api token deleted\nsecret/api user deleted\n",
    written: [["api", { token: null, user: null }, { namespace: "default", replace: false }]],
  });
});

it("a key that is not there is not told as deleted, and nothing else goes", async () => {
  const { code, stderr, written } = await run(["delete", "api", "token", "tokn"]);
  expect({ code, written }).toEqual({ code: 2, written: [] });
  expect(stderr).toContain("Key tokn of secret default/api does not exist");
});
