import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { request } from "node:http";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { act, type Call, send } from "./exchange.ts";
import { type Files, inlineImage, inlineReplica, refusedStart } from "./inline-image.ts";
import { machineOf } from "./machines.ts";
import { hasWritten, killReplica, spawnRuntime, startReplica } from "./replica.ts";

const go = await machineOf("go");
const JSON_TYPE = { "content-type": "application/json" };

async function buildOutput(files: Files, entrypoint?: string, env?: Record<string, string>): Promise<string> {
  const built = inlineImage(go, files, { ...(entrypoint && { entrypoint }), ...(env && { env }) });
  return built.then(
    () => "built",
    (error: Error) => error.message.trimEnd(),
  );
}

const handler = (signature: string, body: string, imports = "") => ({
  "handler.go": `package hello\n\n${imports}\n\nfunc Handle${signature} {\n\t${body}\n}\n`,
});

describe("forms of a Go handler", () => {
  it("a struct is filled from JSON, a form and the query, and what does not fit is the caller's fault", async () => {
    const files = handler(
      "(event struct{ Name string; Age int }) any",
      'return map[string]any{"name": event.Name, "age": event.Age}',
    );
    const { origin } = await inlineReplica(go, files);
    const calls: [Call, unknown][] = [
      [
        { headers: JSON_TYPE, body: '{"name":"Ada","age":36}' },
        { name: "Ada", age: 36 },
      ],
      [
        { method: "GET", path: "/?name=Ada" },
        { name: "Ada", age: 0 },
      ],
      [
        { headers: { "content-type": "application/x-www-form-urlencoded" }, body: "name=Ada" },
        { name: "Ada", age: 0 },
      ],
      [
        { headers: JSON_TYPE, body: '{"age":"old"}' },
        expect.objectContaining({ reason: "invalid_event", error: expect.stringContaining("Age") }),
      ],
      [{ headers: { "content-type": "image/png" }, body: "x" }, expect.objectContaining({ reason: "invalid_event" })],
    ];
    for (const [call, expected] of calls) expect((await send(origin, call)).json).toEqual(expected);
  });

  it("bytes get the body as it is, whatever its type", async () => {
    const { origin } = await inlineReplica(go, handler("(event []byte) []byte", "return event"));
    const body = Buffer.from([0, 1, 255]);
    expect((await send(origin, { body })).body).toEqual(body);
    expect((await send(origin, { headers: JSON_TYPE, body: '{"a": 1}' })).body.toString()).toBe('{"a": 1}');
    expect((await send(origin, { method: "GET", path: "/?a=1" })).body.length).toBe(0);
  });

  it("a string gets text, and nothing without a body", async () => {
    const { origin } = await inlineReplica(go, handler("(event string) string", 'return "<" + event + ">"'));
    expect((await send(origin, { headers: { "content-type": "text/plain" }, body: "hi" })).body.toString()).toBe(
      "<hi>",
    );
    expect((await send(origin, { method: "GET" })).body.toString()).toBe("<>");
  });

  it("an error alone is a failure, and no error 204", async () => {
    const files = handler(
      "(event map[string]any) error",
      'if event["fail"] != nil { return errors.New("secret detail") }\n\treturn nil',
      'import "errors"',
    );
    const replica = await inlineReplica(go, files);
    expect((await act(replica.origin, "", {})).status).toBe(204);
    const failed = await act(replica.origin, "", { fail: true });
    expect([failed.status, failed.body.toString().includes("secret")]).toEqual([500, false]);
    await hasWritten(replica.stderr, "secret detail");
  });

  it("a panic is a failure with its stack in the log, and the replica goes on", async () => {
    const files = handler("(event map[string]any) any", "var list []int\n\treturn list[3]");
    const replica = await inlineReplica(go, files);
    expect([(await act(replica.origin, "")).status, (await act(replica.origin, "")).status]).toEqual([500, 500]);
    await hasWritten(replica.stderr, "handler.go:7");
  });

  it("a struct with a statusCode decides about the answer", async () => {
    const files = handler(
      "() answer",
      'return answer{201, map[string]string{"x-a": "b"}, []byte{0, 255}}',
      'type answer struct {\n\tStatusCode int `json:"statusCode"`\n\tHeaders map[string]string `json:"headers"`\n\tBody []byte `json:"body"`\n}',
    );
    const { origin } = await inlineReplica(go, files);
    const reply = await act(origin, "");
    expect([reply.status, reply.headers["x-a"], [...reply.body]]).toEqual([201, "b", [0, 255]]);
  });
});

const WRITER = {
  "handler.go": `package web

import ("fmt"; "io"; "net/http"; "time")

func Handle(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/body":
		io.Copy(w, r.Body)
	case "/stream":
		fmt.Fprint(w, "first ")
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
		fmt.Println("context done")
	case "/late":
		<-r.Context().Done()
		_, err := fmt.Fprint(w, "too late")
		fmt.Println("late write:", err)
	case "/panic":
		panic("secret detail")
	case "/half":
		fmt.Fprint(w, "half")
		w.(http.Flusher).Flush()
		panic("secret detail")
	case "/upgrade":
		connection, _, err := http.NewResponseController(w).Hijack()
		if err != nil { panic(err) }
		connection.Write([]byte("HTTP/1.1 101 Switching Protocols\\r\\nConnection: upgrade\\r\\nUpgrade: echo\\r\\n\\r\\n"))
		io.Copy(connection, connection)
		connection.Close()
	case "/block":
		for { time.Now() }
	default:
		w.Header().Set("x-kind", r.Context().Value("trigger").(string))
		w.WriteHeader(http.StatusTeapot)
		fmt.Fprint(w, r.Method, " ", r.URL.Query().Get("a"))
	}
}
`,
};

describe("a Go handler that writes its own answer", () => {
  it("status, headers, bodies, streams, upgrades and failures are its own", async () => {
    const replica = await inlineReplica(go, WRITER);
    const { origin } = replica;
    const plain = await send(origin, { method: "PUT", path: "/x?a=1" });
    expect([plain.status, plain.headers["x-kind"], plain.body.toString()]).toEqual([418, "http", "PUT 1"]);
    expect((await send(origin, { path: "/body", body: Buffer.alloc(300_000, 7) })).body.length).toBe(300_000);
    expect((await send(origin, { path: "/panic" })).json).toMatchObject({ reason: "handler_error" });
    await expect(send(origin, { path: "/half" })).rejects.toThrow();

    const streaming = request(`${origin}/stream`, { method: "GET" }).end();
    const [incoming] = await once(streaming, "response");
    expect(String((await once(incoming, "data"))[0])).toBe("first ");
    streaming.on("error", () => {}).destroy();
    await hasWritten(replica.stdout, "context done");

    const upgrading = request(`${origin}/upgrade`, { headers: { connection: "upgrade", upgrade: "echo" } }).end();
    const [, socket] = await once(upgrading, "upgrade");
    socket.write("ping");
    expect(String((await once(socket, "data"))[0])).toBe("ping");
    socket.destroy();
  });

  it("at its deadline it is 504, what it writes later is lost, and a blocked one takes the replica with it", async () => {
    const replica = await inlineReplica(go, WRITER);
    const headers = { "x-sless-timeout-ms": "1000" };
    const late = await send(replica.origin, { path: "/late", headers });
    expect([late.status, late.json]).toEqual([504, expect.objectContaining({ reason: "function_timeout" })]);
    await hasWritten(replica.stdout, "late write: http: Handler timeout");
    await expect(send(replica.origin, { path: "/stream", headers })).rejects.toThrow();
    const upgraded = { ...headers, connection: "upgrade", upgrade: "echo" };
    const upgrading = request(`${replica.origin}/upgrade`, { headers: upgraded }).end();
    const [, socket] = await once(upgrading, "upgrade");
    await once(socket.resume(), "close");
    expect((await send(replica.origin, { path: "/block", headers })).status).toBe(504);
    expect(await replica.exited()).toBe(75);
  });

  it("as a job its body is the result", async () => {
    const image = await inlineImage(go, WRITER);
    const files = await temporaryFolder();
    const env = { SLESS_JOB: "1", SLESS_RESULT_FILE: join(files, "result") };
    const job = spawnRuntime(go, image, env);
    expect(await job.exited()).toBe(1);
    expect(job.stderr()).toContain("status 418");
    expect(await readFile(join(files, "result"), "utf8")).toBe("POST ");
  });
});

describe("building a Go function", () => {
  it.each<[string, Files, RegExp]>([
    [
      "a missing file",
      { "other.go": "package a" },
      /^sless: handler\.go is not in the source; add it, or correct spec\.entrypoint \(handler\.handle\)$/m,
    ],
    [
      "a missing function",
      handler("r()", ""),
      /^sless: handler\.go has no function Handle; functions there: Handler; add it/m,
    ],
    [
      "a function that is not exported",
      { "handler.go": "package a\n\nfunc handle() {}" },
      /^sless: handler\.go:3: handle is not exported, so the server cannot call it; rename it Handle$/m,
    ],
    [
      "too many arguments",
      handler("(a, b, c string) error", "return nil"),
      /^sless: handler\.go:5: Handle takes 3 arguments; a handler is func\(ctx/m,
    ],
    [
      "arguments the wrong way round",
      handler("(event string, ctx context.Context) error", "return nil", 'import "context"'),
      /^sless: handler\.go:5: Handle takes .*; a handler is func\(ctx/m,
    ],
    [
      "a second result that is no error",
      handler("() (string, int)", 'return "", 0'),
      /^sless: handler\.go:5: Handle returns two values of which the second is no error/m,
    ],
    ["type parameters", handler("[T any](event T)", ""), /^sless: handler\.go:5: Handle has type parameters/m],
    ["a syntax error", { "handler.go": "package a\n\nfunc Handle( {\n}" }, /^sless: handler\.go:3:\d+: /m],
    [
      "a type error",
      { ...handler("() string", "return name()"), "name.go": "package hello\n\nfunc name() string {\n\treturn 5\n}\n" },
      /^\.\/name\.go:4:9: cannot use 5/m,
    ],
    [
      "an unknown package",
      handler("()", "", 'import _ "github.com/nobody/not-there"'),
      /^handler\.go:3:8: no required module provides package github\.com\/nobody\/not-there/m,
    ],
  ])("%s is told with file and line", async (_name, files, expected) => {
    expect(await buildOutput(files)).toMatch(expected);
  });

  it("what only the types tell is refused at the start with a reason", async () => {
    const start = await refusedStart(go, handler("(event chan int) error", "return nil"));
    expect(start.code).toBe(65);
    expect(start.reason).toMatch(
      /^sless: handler\.handle: JSON cannot fill its event, a chan int: it is func\(chan int\) error; a handler is func\(ctx/,
    );
  });

  it("pgx with its pool and its sql driver needs no go.mod", async () => {
    const imports =
      'import (\n\t"context"\n\t"database/sql"\n\t"github.com/jackc/pgx/v5/pgxpool"\n\t_ "github.com/jackc/pgx/v5/stdlib"\n)';
    const body =
      'config, err := pgxpool.ParseConfig("postgres://ada@localhost:5433/db")\n\tif err != nil { return nil, err }\n\t_, err = sql.Open("pgx", "")\n\treturn config.ConnConfig.Port, err';
    const { origin } = await inlineReplica(go, handler("(ctx context.Context) (any, error)", body, imports));
    expect((await act(origin, "")).json).toBe(5433);
  });

  it("code of the standard library alone is built without a network and without a module cache", async () => {
    const env = { GOPROXY: "off", GOFLAGS: "-modcacherw", GOMODCACHE: await temporaryFolder() };
    expect(await buildOutput(handler("() string", 'return "hi"'), undefined, env)).toBe("built");
  });

  it("the user's go.mod, its vendored packages and its package names are honoured", async () => {
    const files = {
      "go.mod": "module example.com/fn\n\ngo 1.21\n\nrequire example.com/dep v1.0.0\n",
      "vendor/modules.txt": "# example.com/dep v1.0.0\n## explicit; go 1.21\nexample.com/dep\n",
      "vendor/example.com/dep/dep.go": 'package dep\n\nconst Name = "vendored"\n',
      "src/handler.go":
        'package main\n\nimport (\n\t"example.com/dep"\n\t"example.com/fn/internal/names"\n)\n\nfunc Handle() []string { return []string{dep.Name, names.Own} }\n\nfunc main() { println("of its own") }\n',
      "internal/names/names.go": 'package names\n\nconst Own = "own"\n',
    };
    const image = await inlineImage(go, files, { entrypoint: "src/handler.handle" });
    const replica = await startReplica(go, image);
    expect((await act(replica.origin, "")).json).toEqual(["vendored", "own"]);
    await killReplica(replica);
  });

  it("a source with an old go.mod is built with the server beside it", async () => {
    expect(await buildOutput({ ...handler("() string", 'return "hi"'), "go.mod": "module old\n\ngo 1.16\n" })).toBe(
      "built",
    );
  });

  it("the source stays as it was", async () => {
    const image = await inlineImage(go, handler("()", ""));
    const { readdir } = await import("node:fs/promises");
    expect(await readdir(image.source)).toEqual(["handler.go"]);
  });
});
