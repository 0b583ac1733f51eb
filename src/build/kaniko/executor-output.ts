import { basename } from "node:path";
import { redactUrls } from "../../errors/index.ts";

/** What the executor's own lines tell. */
export interface ExecutorFailure {
  readonly by: "command" | "builder";
  /** CamelCase; of a command's failure none. */
  readonly reason: "OutOfMemory" | "DiskFull" | "ContextUnavailable" | "BaseImageUnavailable" | "BuilderFailed" | "";
  readonly cause: string;
}

/** `INFO[0007] RUN pip install …`; some versions colour it. */
const OWN_LINE = new RegExp(
  `^(?:${String.fromCharCode(27)}\\[[0-9;]*m)*(?:TRAC|DEBU|INFO|WARN)(?:${String.fromCharCode(27)}\\[[0-9;]*m)*\\[[^\\]]*\\] ?(.*)$`,
);
const STEP_MAX = 60;
const CAUSE_MAX = 500;
const TAIL_LINES = 40;
const TAIL_MAX = 4_000;

/** The command that a line of output says is run now. */
export function commandIn(line: string): string[] | undefined {
  const text = /^RUN (.+)$/.exec(OWN_LINE.exec(line)?.[1] ?? "")?.[1];
  if (text === undefined) return undefined;
  const words = text.startsWith("[") ? wordsOf(text) : undefined;
  return words ? withoutShell(words) : text.trim().split(/\s+/);
}

function wordsOf(text: string): string[] | undefined {
  try {
    const words: unknown = JSON.parse(text);
    return Array.isArray(words) && words.every((word) => typeof word === "string") ? words : undefined;
  } catch {
    return undefined;
  }
}

/** sless's own Dockerfiles run `sh -c <script> sh env NAME=value… <command>`: the command is what people know. */
function withoutShell(words: string[]): string[] {
  const env = words.indexOf("env");
  if (env < 0) return words[1] === "-c" ? (words[2] ?? "").trim().split(/\s+/) : words;
  const rest = words.slice(env + 1);
  const first = rest.findIndex((word) => !/^\w+=/.test(word));
  return first < 0 ? words : rest.slice(first);
}

/** "running npm ci", or what else the executor tells of itself; undefined for a line of a command. */
export function stepIn(line: string): string | undefined {
  const command = commandIn(line);
  if (command) return `running ${shortened(command.join(" "))}`;
  const own = OWN_LINE.exec(line)?.[1] ?? "";
  if (/^(Retrieving image|Unpacking rootfs)/.test(own)) return "pulling the base image";
  if (/^Taking snapshot/.test(own)) return "putting the result together";
  return undefined;
}

function shortened(text: string): string {
  return text.length > STEP_MAX ? `${text.slice(0, STEP_MAX - 1)}…` : text;
}

/**
 * Why the executor ended, from its last lines.
 *
 * @param command that ran last
 */
export function executorFailure(output: string, command: readonly string[] | undefined): ExecutorFailure {
  const last = lastError(output);
  const ended = /failed to execute command: .*(?:exit status (\d+)|signal:? (\w+))/s.exec(last);
  if (/no space left on device|disk quota exceeded/i.test(ended ? tailOf(output) : last))
    return builder("DiskFull", last);
  if (ended) return commandFailure(ended, command);
  if (/error resolving source context/.test(last)) return builder("ContextUnavailable", last);
  if (/failed to execute command: /.test(last)) return { by: "command", reason: "", cause: shortCause(last) };
  if (/MANIFEST_UNKNOWN|NAME_UNKNOWN|UNAUTHORIZED|DENIED|TOOMANYREQUESTS|retriev\w+ image|manifest unknown/i.test(last))
    return builder("BaseImageUnavailable", last);
  return builder("BuilderFailed", last);
}

function commandFailure(ended: RegExpExecArray, command: readonly string[] | undefined): ExecutorFailure {
  const [, status, signal] = ended;
  // A shell tells the kernel's kill of its child as 137.
  if (status === "137" || signal === "killed" || signal === "9")
    return { by: "builder", reason: "OutOfMemory", cause: `${programOf(command)} was killed` };
  const how = status === undefined ? `signal ${signal}` : `exit code ${status}`;
  return { by: "command", reason: "", cause: `${programOf(command)} ended with ${how}` };
}

/** `python3 -m pip install` is pip. */
export function programOf([program, flag, module]: readonly string[] = []): string {
  if (program === undefined) return "a command";
  return basename(flag === "-m" && module !== undefined ? module : program);
}

function builder(reason: ExecutorFailure["reason"], line: string): ExecutorFailure {
  return { by: "builder", reason, cause: shortCause(line) };
}

function shortCause(line: string): string {
  const text = line
    .replace(/^error (?:building image|resolving source context): /, "")
    .replace(/^error building stage: /, "");
  return text.length > CAUSE_MAX ? `${text.slice(0, CAUSE_MAX)}…` : text || "it ended without a word";
}

/** The executor's last words are its error, in one line. */
function lastError(output: string): string {
  const lines = output.split("\n").map((line) => line.trimEnd());
  return lines.findLast((line) => /^error |: failed to /.test(line)) ?? lines.findLast((line) => line !== "") ?? "";
}

/** Last lines of what commands printed, without the executor's own and without credentials. */
export function tailOf(output: string): string {
  const lines = output.split("\n").filter((line) => !OWN_LINE.test(line) && !/^error (building|resolving)/.test(line));
  const tail = lines.slice(-TAIL_LINES).join("\n").trim();
  return withoutCredentials(tail.length > TAIL_MAX ? `…${tail.slice(-TAIL_MAX)}` : tail);
}

/** Of addresses too: a presigned one opens what it names. */
export function withoutCredentials(text: string): string {
  return redactUrls(text).replaceAll(
    /([?&](?:X-Amz-(?:Signature|Credential|Security-Token)|Signature|AWSAccessKeyId)=)[^&\s"']+/gi,
    "$1***",
  );
}
