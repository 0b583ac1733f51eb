import { answering, pythonFunction } from "../support/embedded.ts";
import { eventually } from "../support/eventually.ts";
import type { Files } from "../support/git-repository.ts";
import type { SeededRandom } from "../support/seeded-random.ts";

const NAMES = ["a", "b", "c", "d", "e"];
const BROKEN = "def handle(:\n";

interface Wanted {
  /** What its newest good code answers. */
  readonly value: number;
  readonly isBroken: boolean;
  readonly memoryMB: number;
}

export interface FunctionHistory {
  /** Files of the functions as they are wanted now. */
  files(): Record<string, string>;
  /** A random change of one function. */
  change(): { readonly message: string; readonly files: Files };
  /** Objects that were deleted since they were seen last: they may have another UID when they come back. */
  readonly mayBeAnew: Set<string>;
  /** Looks at what answers once all has settled, and remembers that it did: no later life may fall behind it. */
  confirm(answerOf: (name: string) => Promise<unknown>): Promise<void>;
  /** Of every function that is wanted: whether what it answers is its newest good code, as far as a server saw that. */
  expected(): { readonly name: string; readonly isExpected: (answer: unknown) => boolean }[];
}

/** Pushes that add, change, configure, break, mend and delete functions, and what must answer after them. */
export function openFunctionHistory(random: SeededRandom): FunctionHistory {
  const wanted = new Map<string, Wanted>();
  const confirmed = new Map<string, number>();
  const mayBeAnew = new Set<string>();
  let values = 0;
  for (const name of NAMES.slice(0, 3)) wanted.set(name, { value: ++values, isBroken: false, memoryMB: 128 });

  const changes: Record<string, (before: Wanted) => Wanted> = {
    code: (before) => ({ ...before, value: ++values, isBroken: false }),
    configure: (before) => ({ ...before, memoryMB: before.memoryMB + 1 }),
    break: (before) => ({ ...before, isBroken: true }),
  };

  function filesOf(name: string): Record<string, string> {
    const { value, isBroken, memoryMB } = wanted.get(name)!;
    return pythonFunction(name, isBroken ? BROKEN : answering(value), { memoryMB });
  }

  function remove(name: string): { message: string; files: Files } {
    const files = Object.fromEntries(Object.keys(filesOf(name)).map((path) => [path, null]));
    wanted.delete(name);
    confirmed.delete(name);
    mayBeAnew.add(`Function/${name}`).add(`Trigger/${name}-http`);
    return { message: `delete ${name}`, files };
  }

  return {
    mayBeAnew,
    files: () => Object.assign({}, ...[...wanted.keys()].map(filesOf)),
    change() {
      const name = random.pick(NAMES);
      const before = wanted.get(name);
      if (!before) {
        wanted.set(name, { value: ++values, isBroken: false, memoryMB: 128 });
        return { message: `add ${name} answering ${values}`, files: filesOf(name) };
      }
      const how = random.pick(["code", "code", "configure", "break", "delete"]);
      if (how === "delete") return remove(name);
      // What is broken is mended, whatever else the lot says.
      const after = before.isBroken ? changes.code!(before) : changes[how]!(before);
      wanted.set(name, after);
      return { message: `${how} ${name} ${JSON.stringify(after)}`, files: filesOf(name) };
    },
    async confirm(answerOf) {
      for (const { name, isExpected } of this.expected()) {
        const answer = await eventually(`the answer of ${name}`, () => answerOf(name), isExpected);
        if (typeof answer === "number") confirmed.set(name, answer);
      }
    },
    expected: () =>
      [...wanted].map(([name, { value, isBroken }]) => ({
        name,
        // What was broken before any server saw the good code may never have served that.
        isExpected: (answer) => {
          if (!isBroken) return answer === value;
          const least = confirmed.get(name);
          return answer === undefined ? least === undefined : Number(answer) >= (least ?? 0) && Number(answer) <= value;
        },
      })),
  };
}
