import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { type InvokeRequest, type LogQuery, ServerError, type SlessClient } from "../../src/server/client.ts";
import { workloadItem } from "../support/items.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { testCli } from "../support/test-cli.ts";

const PLACES: Record<string, string[]> = { functions: ["hello"], services: ["chat"], jobs: ["report"] };

/** A server with one function, one service and one job, which answers as it is told. */
function server(answer: { status?: number; body?: string; logs?: string } = {}) {
  const calls: { plural: string; name: string; query?: LogQuery; request?: InvokeRequest }[] = [];
  const client = {
    get: async (plural: string, name: string) => {
      if (PLACES[plural]?.includes(name)) return workloadItem(name);
      throw new ServerError(404, { error: "It is not there.", code: "not_found" });
    },
    list: async (plural: string) => PLACES[plural]?.map((name) => workloadItem(name)),
    async *logs(plural: string, name: string, query: LogQuery) {
      calls.push({ plural, name, query });
      if (answer.logs !== undefined) return void (yield Buffer.from(answer.logs));
      yield Buffer.from("first\n");
      yield Buffer.from("second\n");
    },
    invoke: async (plural: string, name: string, request: InvokeRequest) => {
      calls.push({ plural, name, request });
      const body = (async function* () {
        yield Buffer.from(answer.body ?? "{}");
      })();
      return { status: answer.status ?? 200, headers: { "content-type": "application/json", via: ["a", "b"] }, body };
    },
  } as unknown as Partial<SlessClient>;
  return { client, calls };
}

it("logs prints what the function printed", async () => {
  const { client, calls } = server();
  const { code, stdout } = await testCli(["logs", "hello", "--tail", "2"], { client });
  expect({ code, stdout }).toEqual({ code: 0, stdout: "first\nsecond\n" });
  expect(calls[0]).toMatchObject({ plural: "functions", query: { follow: false, build: false, tail: 2 } });
});

it("on a terminal logs show what could command it, in a pipe they stay as they are", async () => {
  const { client } = server({ logs: "\u001b[2Jgone\n" });
  expect((await testCli(["logs", "hello"], { client, terminal: 80 })).stdout).toBe("\\x1b[2Jgone\n");
  expect((await testCli(["logs", "hello"], { client })).stdout).toBe("\u001b[2Jgone\n");
});

const named: [string, string, string][] = [
  ["job report", "jobs", "report"],
  ["fn hello", "functions", "hello"],
  ["svc-fn chat", "services", "chat"],
  ["hello", "functions", "hello"],
  ["chat", "services", "chat"],
  ["report", "jobs", "report"],
  ["job/report", "jobs", "report"],
  ["fn/hello", "functions", "hello"],
];
it.each(named)("%s names one of %s", async (text, plural, name) => {
  const { client, calls } = server();
  await testCli(["logs", ...text.split(" "), "-f", "--build"], { client });
  expect(calls[0]).toMatchObject({ plural, name, query: { follow: true, build: true } });
});

it("a name that is not there suggests the nearest one", async () => {
  const { code, stderr } = await testCli(["logs", "helo"], { client: server().client });
  expect(code).toBe(2);
  expect(stderr).toContain("is named helo; did you mean hello?");
});

it.each([
  ["logs", "trigger/hello"],
  ["logs", "trigger", "hello"],
  ["logs", "function"],
  ["logs", "job/report", "hello"],
  ["history", "job", "report"],
  ["rollback", "job", "report"],
  ["invoke", "job", "report"],
  ["invoke", "hello", '{"name":"Ada"}'],
  ["logs", "hello", "--tail", "-1"],
  ["invoke", "job/report"],
])("%s %s is refused with the verb's help", async (...argv) => {
  const { code, stderr } = await testCli(argv, { client: server().client });
  expect(code).toBe(2);
  expect(stderr).toContain(`sless ${argv[0]} --help`);
});

it("invoke sends JSON as JSON and prints the answer", async () => {
  const { client, calls } = server({ body: '{"message":"Hello"}' });
  const { code, stdout } = await testCli(["invoke", "hello", "-d", '{"name":"Ada"}'], { client });
  expect({ code, stdout }).toEqual({ code: 0, stdout: '{"message":"Hello"}' });
  expect(calls[0]!.request).toMatchObject({ headers: { "content-type": "application/json" } });
  expect(String(calls[0]!.request!.body)).toBe('{"name":"Ada"}');
});

it("on a terminal the answer ends with a line end", async () => {
  const { stdout } = await testCli(["invoke", "hello"], { client: server({ body: "x" }).client, terminal: 80 });
  expect(stdout).toBe("x\n");
});

it.each<[string, object, string]>([
  ["a terminal gets an answer so far as it is harmless", { terminal: 80 }, "\\x1b]0;owned\\x07\n"],
  ["a pipe gets it as it is", {}, "\u001b]0;owned\u0007"],
])("%s", async (_what, options, shown) => {
  const { client } = server({ body: "\u001b]0;owned\u0007" });
  expect((await testCli(["invoke", "hello"], { client, ...options })).stdout).toBe(shown);
});

it("invoke takes kind and name apart, and a payload that is no option for forgotten", async () => {
  const { client, calls } = server();
  await testCli(["invoke", "service", "chat"], { client });
  expect(calls[0]).toMatchObject({ plural: "services", name: "chat" });
  expect((await testCli(["invoke", "hello", "{}"], { client })).stderr).toContain("a payload follows -d");
});

it("invoke without a payload sends none", async () => {
  const { client, calls } = server();
  await testCli(["invoke", "hello"], { client });
  expect(calls[0]!.request).toMatchObject({ headers: {} });
  expect(calls[0]!.request!.body).toBeUndefined();
});

const payloads: [string, string | Uint8Array, string][] = [
  ["text", "plain words", "text/plain; charset=utf-8"],
  ["JSON", "[1]", "application/json"],
  ["bytes", Buffer.from([0xff, 0x00]), "application/octet-stream"],
];
it.each(payloads)("a file of %s is sent as it is, with its type", async (_name, content, type) => {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, "payload"), content);
  const { client, calls } = server();
  await testCli(["invoke", "hello", "-d", "@payload"], { client, cwd });
  expect(calls[0]!.request!.headers).toEqual({ "content-type": type });
  expect(Buffer.from(calls[0]!.request!.body as Uint8Array)).toEqual(Buffer.from(content));
});

it("a payload of - is read from the input, and a given header stands above the guess", async () => {
  const { client, calls } = server();
  await testCli(["invoke", "hello", "-d", "-", "-H", "Content-Type: text/csv", "-H", "x-a: 1"], { client, stdin: "1" });
  expect(calls[0]!.request!.headers).toEqual({ "content-type": "text/csv", "x-a": "1" });
  expect(String(calls[0]!.request!.body)).toBe("1");
});

it("a failing function prints its answer, tells the status and exits with 2", async () => {
  const run = await testCli(["invoke", "hello"], { client: server({ status: 500, body: "oh" }).client });
  expect(run).toEqual({ code: 2, stdout: "oh", stderr: "answered 500\n" });
});

it("include shows status and headers before the answer", async () => {
  const { stdout } = await testCli(["invoke", "hello", "-i"], { client: server({ body: "x" }).client });
  expect(stdout).toBe("200\ncontent-type: application/json\nvia: a, b\n\nx");
});

it.each([
  ["-d", "@missing"],
  ["-H", "no header"],
])("invoke %s %j is refused before anything is called", async (...argv) => {
  const { client, calls } = server();
  const { code, stderr } = await testCli(["invoke", "hello", ...argv], { client });
  expect(code).toBe(2);
  expect(stderr).toContain(argv[1]!.replace("@", ""));
  expect(calls).toEqual([]);
});
