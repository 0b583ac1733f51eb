import { createReadStream } from "node:fs";
import { resolve } from "node:path";
import { isSecretName, SECRET_NAME_RULE } from "../apis/index.ts";
import { messageOf, SlessError } from "../errors/index.ts";
import { type Io, readAll, say } from "./io.ts";
import { inForm, RESULT_OPTION, type ResultForm } from "./output.ts";
import { CLIENT_OPTIONS, type Verb } from "./verb.ts";

interface SetOptions {
  readonly replace?: boolean;
  readonly output?: ResultForm;
}

const VERB = "secret set";
const VALUE_MAX_BYTES = 256 * 1024;

export const secretSet: Verb<SetOptions> = {
  name: VERB,
  summary: "Write keys of a secret; functions that use it are restarted",
  arguments: [
    { name: "<name>", description: "name of the secret", completes: "secret" },
    { name: "<values...>", description: "key=value, key=@file or key=- for stdin" },
  ],
  options: [
    { flags: "--replace", description: "remove the keys that are not named" },
    RESULT_OPTION,
    ...CLIENT_OPTIONS,
  ],
  examples: [
    { line: "sless secret set api token=-", does: "from stdin: no shell history and no process list shows it" },
    { line: "sless secret set tls ca.crt=@ca.pem", does: "a file as it is" },
    { line: "sless secret set api user=ada retries=3", does: "what is no secret in itself" },
  ],
  async run([name = "", ...pairs], { replace = false, output }, { io, settings, client }) {
    // In a path such a name leads elsewhere, so that the server knows nothing of it.
    if (!isSecretName(name)) throw usage(`${JSON.stringify(name)} is no name of a secret: ${SECRET_NAME_RULE}`);
    const values = await valuesOf(pairs, io);
    const { namespace } = settings;
    const { keys } = await client().writeSecret(name, values, { namespace, replace });
    if (output) io.stdout.write(inForm(output, { name, keys }, [`secret/${name}`]));
    else say(io.stdout, `secret/${name}  ${keys.join(", ")}`);
    return 0;
  },
};

/** Faults name keys, never values; a pair without `=` may be one, so that it is not shown either. */
async function valuesOf(pairs: readonly string[], io: Io): Promise<Record<string, string>> {
  const sources = pairs.map((pair, index): readonly [string, string] => {
    const at = pair.indexOf("=");
    if (at < 1) throw usage(`value ${index + 1} is not key=value, key=@file or key=-`);
    return [pair.slice(0, at), pair.slice(at + 1)];
  });
  const twice = sources.find(([key], index) => sources.findIndex(([other]) => other === key) !== index);
  if (twice) throw usage(`key ${twice[0]} is given twice`);
  if (sources.filter(([, source]) => source === "-").length > 1) throw usage("stdin can be the value of one key only");
  const values: Record<string, string> = {};
  for (const [key, source] of sources) values[key] = await readValue(key, source, io);
  return values;
}

async function readValue(key: string, source: string, io: Io): Promise<string> {
  if (source === "-") {
    if (io.stdin.isTTY) say(io.stderr, `Value of ${key}, then Ctrl-D:`);
    // What is typed or echoed ends with a line end that nobody means.
    return textOf(key, await readAll(io.stdin, VALUE_MAX_BYTES)).replace(/\r?\n$/, "");
  }
  return source.startsWith("@") ? readFileValue(key, resolve(io.cwd, source.slice(1))) : source;
}

async function readFileValue(key: string, file: string): Promise<string> {
  const bytes = await readAll(createReadStream(file), VALUE_MAX_BYTES).catch((error: unknown) => {
    throw usage(`${file} cannot be read: ${messageOf(error)}`);
  });
  return textOf(key, bytes);
}

function textOf(key: string, bytes: Uint8Array | undefined): string {
  if (!bytes) throw new SlessError("too_large", { what: `The value of ${key}`, limit: "256 KiB" });
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw usage(`the value of ${key} is no text; encode it, for example with base64`);
  }
}

function usage(cause: string): SlessError {
  return new SlessError("usage_invalid", { cause, verb: VERB });
}
