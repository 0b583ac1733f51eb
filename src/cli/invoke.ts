import { createReadStream } from "node:fs";
import { resolve } from "node:path";
import { messageOf, SlessError } from "../errors/index.ts";
import type { InvokeAnswer } from "../server/client.ts";
import { type Io, readAll, say } from "./io.ts";
import { pluralOf } from "./kind-names.ts";
import { passOn, printableText } from "./printable.ts";
import { CLIENT_OPTIONS, type Verb, workloadArguments } from "./verb.ts";
import { workloadNamed } from "./workload-named.ts";

interface InvokeOptions {
  readonly data?: string;
  readonly header?: readonly string[];
  readonly include?: boolean;
}

/** A payload is read into memory before it is sent. */
const PAYLOAD_MAX_BYTES = 64 * 1024 * 1024;

export const invoke: Verb<InvokeOptions> = {
  name: "invoke",
  summary: "Call a function or service and print its answer",
  arguments: workloadArguments("functions", "services"),
  options: [
    { flags: "-d, --data <payload>", mayBeEmpty: true, description: "the event: text, @file or - for stdin" },
    { flags: "-H, --header <header>", description: "a header, name: value; may be repeated", repeated: true },
    { flags: "-i, --include", description: "print status and headers too" },
    ...CLIENT_OPTIONS,
  ],
  examples: [
    { line: `sless invoke hello -d '{"name":"Ada"}'`, does: "call with a JSON event" },
    { line: "sless invoke csv-summary -d @sales.csv -H 'content-type: text/csv'", does: "send a file" },
  ],
  async run(args, options, { io, settings, client }) {
    const [first = "", second] = args;
    if (second !== undefined && !first.includes("/") && !pluralOf(first))
      throw new SlessError("usage_invalid", { cause: `${first} is no kind; a payload follows -d`, verb: "invoke" });
    const given = headersOf(options.header ?? []);
    const body = await payloadOf(options.data, io);
    const { namespace } = settings;
    const among = ["functions", "services"] as const;
    const { plural, name } = await workloadNamed(args, { client: client(), namespace, among, verb: "invoke" });
    const type: Record<string, string> = body === undefined ? {} : { "content-type": contentTypeOf(body) };
    const answer = await client().invoke(plural, name, {
      namespace,
      headers: { ...type, ...given },
      ...(body === undefined ? {} : { body }),
    });
    return print(answer, options.include ?? false, io);
  },
};

async function print(answer: InvokeAnswer, include: boolean, io: Io): Promise<number> {
  if (include) {
    const headers = Object.entries(answer.headers)
      .map(([name, value]) => `${name}: ${[value].flat().join(", ")}`)
      .map(printableText);
    for (const line of [String(answer.status), ...headers, ""]) say(io.stdout, line);
  }
  let last: number | undefined;
  async function* watched() {
    for await (const chunk of answer.body) {
      last = chunk.at(-1) ?? last;
      yield chunk;
    }
  }
  await passOn(watched(), io.stdout);
  // The prompt of a terminal belongs on a line of its own; bytes in a pipe stay as they are.
  if (io.stdout.isTTY && last !== undefined && last !== 10) say(io.stdout, "");
  if (answer.status < 400) return 0;
  if (!include) say(io.stderr, `answered ${answer.status}`);
  return 2;
}

async function payloadOf(data: string | undefined, io: Io): Promise<Uint8Array | undefined> {
  if (data === undefined) return undefined;
  if (data !== "-" && !data.startsWith("@")) return Buffer.from(data);
  const file = resolve(io.cwd, data.slice(1));
  try {
    const bytes = await readAll(data === "-" ? io.stdin : createReadStream(file), PAYLOAD_MAX_BYTES);
    if (bytes) return bytes;
  } catch (error) {
    throw new SlessError("usage_invalid", { cause: `${file} cannot be read: ${messageOf(error)}`, verb: "invoke" });
  }
  throw new SlessError("too_large", { what: "The payload", limit: "64 MiB" });
}

/** What a caller means who names no type: JSON when it parses, else text, else bytes. */
function contentTypeOf(body: Uint8Array): string {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(body);
    return isJson(text) ? "application/json" : "text/plain; charset=utf-8";
  } catch {
    return "application/octet-stream";
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function headersOf(lines: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    lines.map((line) => {
      const [, name, value] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):\s*(.*)$/.exec(line) ?? [];
      if (name === undefined || value === undefined)
        throw new SlessError("usage_invalid", { cause: `"${line}" is no header; write name: value`, verb: "invoke" });
      return [name.toLowerCase(), value];
    }),
  );
}
