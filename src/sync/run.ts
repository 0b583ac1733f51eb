import { ANNOTATIONS, type Diagnostic, type Kind, type ObjectOf, type ObjectRef } from "../apis/index.ts";
import type { SlessError } from "../errors/index.ts";
import type { DesiredState, Plan } from "../plan/index.ts";
import type { Resolved } from "../source/index.ts";
import type { LiveObjects } from "./live-reads.ts";
import type { SyncDeps } from "./sync-deps.ts";
import type { RepositoryMemory } from "./sync-memory.ts";

/** Something that could not be done for one object; the others went on. */
export interface Failure {
  readonly doing: "upload" | "apply" | "mark" | "delete";
  readonly ref: ObjectRef;
  readonly error: SlessError;
}

/** What one run of a repository found and did, step by step; a step that was not reached left nothing. */
export interface Run {
  readonly repository: ObjectOf<"Repository">;
  readonly startedAt: Date;
  readonly memory: RepositoryMemory;
  /** Aborts at shutdown: nothing new is begun, and what was done stays. */
  readonly signal: AbortSignal;
  live?: LiveObjects;
  resolved?: Resolved;
  /** No server was asked for it. */
  isFromMemory?: boolean;
  /** The folders were read, so the revision counts as attempted from here on. */
  attempted?: boolean;
  desired?: DesiredState;
  /** How long reading what is wanted took; part of the plan for who waits. */
  readingMs?: number;
  plan?: Plan;
  /** Objects of the repository, as `refText`, whose sources builds could not read. */
  lacking?: ReadonlySet<string>;
  /** Objects of the repository, as far as the run has come. */
  owned: number;
  /** Faults that only the plan or the store told; those of the files are in `desired`. */
  readonly diagnostics: Diagnostic[];
  readonly failures: Failure[];
  /** Changes of objects that the store did not take, those among them whose faults are in `diagnostics`. */
  readonly refused: { readonly ref: ObjectRef; readonly file: string; readonly error: SlessError }[];
  /** What was written, as the store returned it. */
  readonly applied: ObjectOf<Kind>[];
  readonly deleted: ObjectRef[];
}

export function startRun(start: Pick<Run, "repository" | "startedAt" | "memory" | "signal">): Run {
  return { ...start, owned: 0, diagnostics: [], failures: [], refused: [], applied: [], deleted: [] };
}

/** Somebody asked for this very run, and may have a reason that we do not see. */
export function isAskedFor({ repository }: Run): boolean {
  const asked = repository.metadata.annotations?.[ANNOTATIONS.requestedAt];
  return asked !== undefined && asked !== repository.status?.lastHandledReconcileAt;
}

const STORE_CHECK_MS = 3_600_000;

/** Archives that got lost are looked for: when somebody asks, at the first run of a process, and then once an hour. */
export function isStoreLookedAt(run: Run, { clock }: Pick<SyncDeps, "clock">): boolean {
  const { storeCheckedAtMs } = run.memory;
  return isAskedFor(run) || storeCheckedAtMs === undefined || clock.monotonicMs() - storeCheckedAtMs >= STORE_CHECK_MS;
}

/** CamelCase reasons of the conditions (names that users of Flux know). */
export type Reason =
  | "GitOperationFailed"
  | "AuthenticationFailed"
  | "BuildFailed"
  | "ArtifactFailed"
  | "ReconciliationFailed"
  | "PruneFailed"
  | "DeletionsHeld"
  | "Progressing"
  | "Suspended"
  | "ReconciliationSucceeded";

/** How the steps ended: all of them ran, nothing had changed since the last run, or a step failed as a whole. */
export type Outcome =
  | { readonly kind: "ok" }
  | { readonly kind: "unchanged" }
  | { readonly kind: "failed"; readonly reason: Reason; readonly error: SlessError };

/** One step of a run. What it throws ends the run; what fails for one object alone it notes in `failures`. */
export type Step = (run: Run, deps: SyncDeps) => Promise<Outcome>;

export const OK: Outcome = { kind: "ok" };

/** All faults of the revision, those of its files first. */
export function diagnosticsOf(run: Run): readonly Diagnostic[] {
  const ofFiles = run.desired?.diagnostics ?? [];
  return run.diagnostics.length === 0 ? ofFiles : [...ofFiles, ...run.diagnostics];
}
