import type { ObjectKey } from "../apis/index.ts";
import { type ProgressEvent, restoredText } from "../report/index.ts";
import { repeatedFailures } from "./repeated-failures.ts";
import { shortRevision } from "./table.ts";

/** A step that ended, with its milliseconds. */
export interface Step {
  readonly name: string;
  readonly durationMs: number;
}

/** What is to be shown after an event: `ended` chains and notes for good, in order; the rest is still on its way. */
export type Shown =
  | { readonly kind: "chain"; readonly title: string; readonly steps: readonly Step[]; readonly end: ChainEnd }
  | { readonly kind: "note"; readonly text: string };

export type ChainEnd =
  | { readonly kind: "good"; readonly detail: string | undefined }
  | { readonly kind: "failed"; readonly reason: string; readonly message: string };

interface Chain {
  readonly title: string;
  readonly steps: Step[];
  /** Milliseconds of the last step. */
  lastMs: number;
}

/** After it nobody waits for a chain's next step any more: what is scaled to zero, for one, has no step that ends it. */
const OPEN_MAX_MS = 5 * 60_000;
/** How often it is counted what is not on its way any more. */
const COUNT_AGAIN_MS = 1_000;

export interface ProgressChains {
  take(event: ProgressEvent): Shown[];
  /** The first `max` that are on their way, in the order of their first step, and how many more there are. */
  open(max: number): Open;
  /** Nothing is on its way any more. */
  clear(): void;
}

export interface Open {
  readonly first: readonly { readonly title: string; readonly steps: readonly Step[] }[];
  readonly more: number;
}

interface Push {
  readonly steps: Step[];
  readonly changes: readonly string[];
}

type Named = { readonly kind: string } & ObjectKey;

/**
 * Joins events to one chain per object that a push changed: `fetched → planned → stored → built → serving`. The first
 * two steps are the push's own; an object that starts again without a push has a chain without them.
 */
export function progressChains(nowMs: () => number): ProgressChains {
  const chains = new Map<string, Chain>();
  const pushes = new Map<string, Push>();
  /** Objects that wait for their first step of a push. */
  const awaited = new Map<string, Push>();
  const failures = repeatedFailures(nowMs);

  function chainOf(object: Named, push?: Push): Chain {
    const key = keyOf(object);
    const before = (awaited.get(key) ?? push)?.steps ?? [];
    const chain = chains.get(key) ?? { title: object.name, steps: [...before], lastMs: 0 };
    chain.lastMs = nowMs();
    awaited.delete(key);
    chains.set(key, chain);
    return chain;
  }

  function step(object: Named, name: string, durationMs: number): Shown[] {
    // A source is stored by a push alone, whatever the plan said of the object.
    const push = name === "stored" ? [...pushes.values()].at(-1) : undefined;
    chainOf(object, push).steps.push({ name, durationMs });
    return [];
  }

  function end(object: Named, how: ChainEnd): Shown[] {
    const { title, steps } = chainOf(object);
    chains.delete(keyOf(object));
    return [{ kind: "chain", title, steps, end: how }];
  }

  /** A replica that crashed and runs again is told once, not at every turn of a circle. */
  function serving({ object, url, durationMs }: Extract<ProgressEvent, { step: "serving" }>): Shown[] {
    step(object, "serving", durationMs);
    const isRestart = chainOf(object).steps.length === 1;
    const shown = end(object, { kind: "good", detail: url });
    return isRestart && failures.isRepeating(keyOf(object)) ? [] : shown;
  }

  function failed({ object, reason, message }: Extract<ProgressEvent, { step: "failed" }>): Shown[] {
    const shown = end(object, { kind: "failed", reason, message });
    // The first line says what it is; paths and times of the tail differ from try to try.
    const text = `${reason} ${message.split("\n", 1)[0]}`;
    const times = object.kind === "Repository" ? "new" : failures.failed(keyOf(object), text);
    if (times === "again")
      return [{ kind: "note", text: `${object.name} fails again as above; told no more till it changes` }];
    return times === "new" ? shown : [];
  }

  function deleted({ object }: Extract<ProgressEvent, { step: "deleted" }>): Shown[] {
    chains.delete(keyOf(object));
    awaited.delete(keyOf(object));
    failures.forget(keyOf(object));
    return [{ kind: "note", text: `deleted ${object.kind} ${object.name}` }];
  }

  function planned(event: Extract<ProgressEvent, { step: "planned" }>): Shown[] {
    const push = pushes.get(keyOf(event.repository)) ?? { steps: [], changes: [] };
    const steps = [...push.steps, { name: "planned", durationMs: event.durationMs }];
    const next: Push = { steps, changes: event.changes };
    pushes.set(keyOf(event.repository), next);
    for (const ref of event.changes.flatMap(writtenWorkload)) {
      awaited.set(ref, next);
      chains.delete(ref);
      failures.forget(ref);
    }
    return [];
  }

  function applied(event: Extract<ProgressEvent, { step: "applied" }>): Shown[] {
    const push = pushes.get(keyOf(event.repository)) ?? { steps: [], changes: [] };
    pushes.delete(keyOf(event.repository));
    const steps = [...push.steps, { name: "applied", durationMs: event.durationMs }];
    const detail = `${event.objects} written`;
    return [{ kind: "chain", title: shortRevision(event.revision), steps, end: { kind: "good", detail } }];
  }

  function take(event: ProgressEvent): Shown[] {
    switch (event.step) {
      case "fetched": {
        const steps = [{ name: "fetched", durationMs: event.durationMs }];
        pushes.set(keyOf(event.repository), { steps, changes: [] });
        return [];
      }
      case "planned":
        return planned(event);
      case "applied":
        return applied(event);
      case "stored":
        if (event.instead) return [{ kind: "note", text: `${event.object.name}: ${restoredText(event)}` }];
        return step(event.object, "stored", event.durationMs);
      case "built":
        return step(event.object, "built", event.durationMs);
      case "serving":
        return serving(event);
      case "finished":
        step(event.object, event.phase.toLowerCase(), event.durationMs);
        return end(event.object, endOfJob(event.phase, event.message));
      case "deleted":
        return deleted(event);
      case "failed":
        return failed(event);
      case "notice":
        return [{ kind: "note", text: event.message }];
    }
  }

  /** Those that nobody waits for any more, as counted last. */
  let givenUp = 0;
  let countedMs = Number.NEGATIVE_INFINITY;
  return {
    take,
    open(max) {
      const now = nowMs();
      const isOpen = ({ lastMs }: { lastMs: number }) => now - lastMs < OPEN_MAX_MS;
      // Asked for with every event: only once in a while are all looked at.
      if (now - countedMs >= COUNT_AGAIN_MS) {
        countedMs = now;
        givenUp = [...chains.values()].filter((chain) => !isOpen(chain)).length;
      }
      const first: Chain[] = [];
      for (const chain of chains.values()) {
        if (first.length === max) break;
        if (isOpen(chain)) first.push(chain);
      }
      return { first, more: Math.max(0, chains.size - givenUp - first.length) };
    },
    clear: () => chains.clear(),
  };
}

function endOfJob(phase: string, message: string): ChainEnd {
  if (phase !== "Failed") return { kind: "good", detail: message || undefined };
  return { kind: "failed", reason: phase, message };
}

function keyOf(object: ObjectKey & { kind?: string }): string {
  return `${object.kind ?? "Repository"}/${object.namespace}/${object.name}`;
}

/** The workload that a line of a plan writes: `update Function/default/hello (code)`. */
function writtenWorkload(change: string): string[] {
  const [, ref] =
    /^(?:create|update|adopt) ((?:Function|Service|FunctionJob)\/[a-z0-9-]+\/[a-z0-9-]+)/.exec(change) ?? [];
  return ref === undefined ? [] : [ref];
}
