/**
 * Does what README.md says, as written: in a fresh clone of this checkout, `npm start` in one terminal and every other
 * command in a second one, and compares what they print. Needs port 9090 and the network. Exit code 1 when anything
 * differs.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { type ConsoleStep, consoleSteps, holdsLines, matchesOutput, type Step } from "./console-blocks.ts";

const ROOT = join(import.meta.dirname, "..");
const START_COMMAND = "npm start";
/** The first start installs and builds everything. */
const START_MAX_MS = 10 * 60_000;
/** A push is deployed within it, and a first install of a package too. */
const STEP_MAX_MS = 60_000;
const POLL_MS = 250;

/** The reader's machine: none of our variables, somebody who can commit. */
function environment(home: string): NodeJS.ProcessEnv {
  const foreign = /^(npm_|SLESS_|PORT$|NODE_OPTIONS$|INIT_CWD$|LOG_)/;
  const kept = Object.entries(process.env).filter(([name]) => !foreign.test(name));
  const who = { NAME: "Reader", EMAIL: "reader@example.com" };
  const git = Object.entries(who).flatMap(([key, value]) => [
    [`GIT_AUTHOR_${key}`, value],
    [`GIT_COMMITTER_${key}`, value],
  ]);
  const path = (process.env.PATH ?? "").split(":").filter((folder) => !folder.endsWith("node_modules/.bin"));
  return { ...Object.fromEntries([...kept, ...git]), PATH: path.join(":"), SCRATCH: home, CURL_HOME: home };
}

class Terminal {
  readonly #env: NodeJS.ProcessEnv;
  #folder: string;

  constructor(folder: string, env: NodeJS.ProcessEnv) {
    this.#folder = folder;
    this.#env = env;
  }

  /** Runs a command where the last one left off. */
  run(command: string): Promise<string[]> {
    const script = `${command}\nstatus=$?\npwd > "$SCRATCH/folder"\nexit $status`;
    return new Promise((done) => {
      execFile(
        "bash",
        ["-c", script],
        { cwd: this.#folder, env: this.#env, maxBuffer: 1 << 24 },
        async (_error, out, err) => {
          this.#folder = (await readFile(join(this.#env.SCRATCH!, "folder"), "utf8").catch(() => this.#folder)).trim();
          done(lines(`${out}${err}`));
        },
      );
    });
  }
}

const lines = (text: string) => (text.trimEnd() === "" ? [] : text.trimEnd().split("\n"));

class Server {
  readonly #child: ChildProcess;
  #printed = "";

  constructor(folder: string, env: NodeJS.ProcessEnv) {
    // A group of its own, so that everything it started can be ended with it.
    this.#child = spawn("bash", ["-c", `exec ${START_COMMAND}`], { cwd: folder, env, detached: true });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on("data", (chunk) => {
        this.#printed += String(chunk);
      });
    }
  }

  get lines(): string[] {
    return lines(this.#printed);
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const ended = new Promise((done) => this.#child.once("exit", done));
    process.kill(-this.#child.pid!, "SIGTERM");
    await Promise.race([ended, wait(15_000)]);
    if (this.#child.exitCode === null && this.#child.signalCode === null) process.kill(-this.#child.pid!, "SIGKILL");
  }
}

async function becomes(holds: () => boolean | Promise<boolean>, withinMs: number): Promise<boolean> {
  const deadline = performance.now() + withinMs;
  while (!(await holds())) {
    if (performance.now() > deadline) return false;
    await wait(POLL_MS);
  }
  return true;
}

function tell(step: Step, isGood: boolean, seen: readonly string[]): boolean {
  const what = step.kind === "command" ? step.command : "what the server prints";
  console.log(`${isGood ? "ok    " : "FAILED"} README.md:${step.line} ${what}`);
  if (!isGood)
    console.log(["  expected:", ...step.expected, "  seen:", ...seen].map((line) => `    ${line}`).join("\n"));
  return isGood;
}

/** A reader who asks too early asks again; only a command that changes nothing may be repeated. */
async function runCommand(terminal: Terminal, step: ConsoleStep): Promise<{ isGood: boolean; seen: string[] }> {
  let seen: string[] = [];
  const isRepeatable = step.command.startsWith("curl ") || step.command.startsWith("npx sless ");
  const attempt = async () => {
    seen = await terminal.run(step.command);
    return matchesOutput(seen, step.expected);
  };
  return { isGood: await becomes(attempt, isRepeatable ? STEP_MAX_MS : 0), seen };
}

async function tour(scratch: string): Promise<number> {
  const env = environment(scratch);
  // A person at a terminal sees no progress meter for so short an answer.
  await writeFile(join(scratch, ".curlrc"), "no-progress-meter\n");
  const clone = join(scratch, "sless");
  await new Terminal(scratch, env).run(`git clone --quiet '${ROOT}' '${clone}'`);
  const terminal = new Terminal(clone, env);
  let server: Server | undefined;
  let faults = 0;
  try {
    for (const step of consoleSteps(await readFile(join(clone, "README.md"), "utf8"))) {
      let isGood: boolean;
      let seen: string[] = [];
      if (step.kind === "command" && step.command !== START_COMMAND) {
        ({ isGood, seen } = await runCommand(terminal, step));
      } else {
        server ??= new Server(clone, env);
        const running = server;
        isGood = await becomes(
          () => holdsLines(running.lines, step.expected),
          step.kind === "server" ? STEP_MAX_MS : START_MAX_MS,
        );
        seen = running.lines;
      }
      if (!tell(step, isGood, seen)) faults += 1;
      if (!isGood && step.kind === "command" && step.command === START_COMMAND) break;
    }
  } finally {
    await server?.stop();
  }
  return faults;
}

const scratch = await mkdtemp(join(tmpdir(), "sless-readme-"));
try {
  process.exitCode = (await tour(scratch)) > 0 ? 1 : 0;
} finally {
  await rm(scratch, { recursive: true, force: true, maxRetries: 5 });
}
