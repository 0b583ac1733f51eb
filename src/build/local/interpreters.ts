import { stat } from "node:fs/promises";
import { findInterpreter, type Interpreter, type InterpreterSearch, type Runtime } from "../../runtimes/index.ts";
import { BuildFault } from "../build-fault.ts";

/** Interpreters of this machine, each looked for once; again when its program has changed or was not there. */
export interface Interpreters {
  find(runtime: Runtime): Promise<Interpreter | undefined>;
}

/** `notice` hears once of every runtime that another version than the named one serves. */
export function openInterpreters(search: InterpreterSearch, notice: (message: string) => void): Interpreters {
  const known = new Map<string, Promise<{ interpreter: Interpreter; identity: string } | undefined>>();
  const noticed = new Set<string>();

  async function look(runtime: Runtime): Promise<{ interpreter: Interpreter; identity: string } | undefined> {
    const interpreter = await findInterpreter(runtime, search);
    if (!interpreter) return undefined;
    const text = `${runtime.name} is not on this machine: ${interpreter.path} (${interpreter.version}) runs its functions.`;
    if (!interpreter.exact && !noticed.has(text)) {
      noticed.add(text);
      notice(`${text} To get it: ${runtime.interpreter.install}`);
    }
    return { interpreter, identity: await identityOf(interpreter.path) };
  }

  return {
    async find(runtime) {
      const before = await known.get(runtime.name);
      if (before && before.identity === (await identityOf(before.interpreter.path))) return before.interpreter;
      // Asked for by many at once, it is looked for once.
      const current = known.get(runtime.name);
      const looking = current && (await current) !== before ? current : look(runtime);
      known.set(runtime.name, looking);
      const found = await looking;
      if (!found) known.delete(runtime.name);
      return found?.interpreter;
    },
  };
}

/** Changes when another program stands at the path. */
async function identityOf(path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined);
  return found ? `${found.ino} ${found.mtimeMs} ${found.size}` : "";
}

/** What is said when there is none. */
export function toolchainMissing({ name, interpreter }: Runtime): BuildFault {
  const tool = `${interpreter.commands[0]} ${interpreter.version}`;
  return new BuildFault("toolchain_missing", { runtime: name, tool, install: interpreter.install });
}
