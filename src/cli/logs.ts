import { SlessError } from "../errors/index.ts";
import { passOn } from "./printable.ts";
import { READ_OPTIONS, type Verb, workloadArguments } from "./verb.ts";
import { workloadNamed } from "./workload-named.ts";

interface LogsOptions {
  readonly follow?: boolean;
  readonly build?: boolean;
  readonly tail?: string;
}

export const logs: Verb<LogsOptions> = {
  name: "logs",
  endsOnSignal: true,
  summary: "Show what a function, service or job printed, or its build",
  arguments: workloadArguments("functions", "services", "jobs"),
  options: [
    { flags: "-f, --follow", description: "go on as more is printed" },
    { flags: "--build", description: "output of the last build instead" },
    { flags: "--tail <lines>", description: "only the last lines" },
    ...READ_OPTIONS,
  ],
  examples: [
    { line: "sless logs hello -f", does: "follow a function" },
    { line: "sless logs --build hello", does: "why did the build fail?" },
  ],
  async run(args, { follow = false, build = false, tail }, { io, settings, client }) {
    const lines = tail === undefined ? undefined : lineCount(tail);
    const { namespace } = settings;
    const among = ["functions", "services", "jobs"] as const;
    const { plural, name } = await workloadNamed(args, { client: client(), namespace, among, verb: "logs" });
    const query = { namespace, follow, build, signal: io.signal, ...(lines === undefined ? {} : { tail: lines }) };
    const chunks = client().logs(plural, name, query);
    // What a function prints may hold what its callers sent.
    await passOn(chunks, io.stdout);
    return 0;
  },
};

function lineCount(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new SlessError("usage_invalid", { cause: `--tail ${text} is no number of lines`, verb: "logs" });
}
