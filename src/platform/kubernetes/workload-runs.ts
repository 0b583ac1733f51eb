import { deployNamespaceOf, refText, type WorkloadRef } from "../../apis/index.ts";
import type { TimerClock } from "../../controller/clock.ts";
import { isSlessError, SlessError } from "../../errors/index.ts";
import { type ApiMeta, type ApiObject, isApiError } from "../../kubernetes/index.ts";
import { hindranceOf } from "../hindrance.ts";
import type { WorkloadSpec, WorkloadState } from "../platform.ts";
import { withoutSecrets } from "../without-secrets.ts";
import type { ClusterView } from "./cluster-view.ts";
import { dropFormer } from "./former-versions.ts";
import type { LiveChild, LiveDeployment } from "./live-objects.ts";
import { namespaceEnd, namespaceEndOf, onNamespaceEnd } from "./namespace-end.ts";
import type { Failure } from "./pod-failure.ts";
import { refusalOf } from "./refusal.ts";
import { retryTimers } from "./retry-timers.ts";
import type { RunDeps } from "./run-deps.ts";
import { secretUsers } from "./secret-reader.ts";
import { type WantedChild, wantedChildren } from "./wanted-children.ts";
import { seenWorkload, workloadState } from "./workload-state.ts";

/** Functions and Services: their children as wanted, and what is seen of them. */
export interface WorkloadRuns {
  apply(spec: WorkloadSpec, replicas: number): Promise<WorkloadState>;
  /** Undefined when nothing is there and nothing is wrong. */
  state(workload: WorkloadRef): WorkloadState | undefined;
  /** A child is not as it was last applied. */
  hasDrifted(workload: WorkloadRef): boolean;
  /** The cluster did not take what was applied last; it is tried again by itself. */
  isRefused(workload: WorkloadRef): boolean;
  /** The Function of a Service's name, or the Service of a Function's, is run by this process: the name's children are its. */
  isAnothers(workload: WorkloadRef): boolean;
  forget(workload: WorkloadRef): void;
}

export interface WorkloadDeps extends RunDeps {
  readonly clock: TimerClock;
  /** Has the workload looked at, and told when it is news. */
  readonly check: (workload: WorkloadRef) => void;
  /** Has the workload told, news or not. */
  readonly tell: (workload: WorkloadRef) => void;
}

interface Applied {
  readonly spec: WorkloadSpec;
  readonly children: readonly WantedChild[];
  /** Why it could not be applied. */
  readonly failure?: Failure;
}

const OTHER_KIND = { Function: "Service", Service: "Function", FunctionJob: "FunctionJob" } as const;

export function workloadRuns(deps: WorkloadDeps): WorkloadRuns {
  const { clock, view, writer, secrets } = deps;
  const applied = new Map<string, Applied>();
  const users = secretUsers();
  const rechecks = new Map<string, () => void>();
  const retries = retryTimers(deps);

  view.secrets.onChange(({ metadata }) => {
    for (const user of users.of({ namespace: metadata.namespace ?? "", name: metadata.name })) deps.tell(user);
  });
  onNamespaceEnd(view, (namespace) => {
    for (const { spec } of applied.values()) if (spec.workload.namespace === namespace) deps.tell(spec.workload);
  });

  function state(workload: WorkloadRef): WorkloadState | undefined {
    const known = applied.get(refText(workload));
    const judged = judge(workload);
    const failure = known?.failure ?? heldChild(known?.children ?? [], view) ?? judged?.failure;
    if (!judged && !failure) return undefined;
    const seen = judged ?? { serving: 0, current: false };
    // What Kubernetes has rolled out may be what was wanted before.
    const base = seen.current && hasDrifted(workload) ? { ...seen, current: false } : seen;
    if (!failure) return base;
    const message = known ? withoutSecrets(failure.message, secrets.known(known.spec)) : failure.message;
    return { ...base, current: false, failure: { ...failure, message } };
  }

  function hasDrifted(workload: WorkloadRef): boolean {
    const children = applied.get(refText(workload))?.children ?? [];
    return children.some((child) => {
      const live = liveOf(child, view);
      return live?.metadata.deletionTimestamp === undefined && writer.differs(child, live);
    });
  }

  function judge(workload: WorkloadRef): WorkloadState | undefined {
    const seen = seenWorkload(view, workload);
    if (!seen) return undefined;
    const { unschedulableSec } = deps.settings;
    const { state: judged, againInMs } = workloadState(seen, { now: clock.now(), unschedulableSec });
    const key = refText(workload);
    rechecks.get(key)?.();
    rechecks.delete(key);
    if (againInMs !== undefined)
      rechecks.set(
        key,
        clock.setTimer(againInMs, () => deps.check(workload)),
      );
    return judged;
  }

  async function apply(spec: WorkloadSpec, replicas: number): Promise<void> {
    const { workload } = spec;
    const key = refText(workload);
    users.set(workload, spec);
    try {
      const end = namespaceEnd(view, workload.namespace);
      if (end) throw end;
      const children = await childrenOf(spec, replicas, deps);
      applied.set(key, { spec, children });
      await writeChildren(workload, children, deps);
      retries.end(workload);
    } catch (thrown) {
      const error = namespaceEndOf(thrown, view, workload.namespace) ?? thrown;
      const failure = refusalOf(error, "child") ?? hindranceOf(error);
      if (!failure) throw error;
      applied.set(key, { spec, children: applied.get(key)?.children ?? [], failure });
      // A secret that comes is told by its watch; nobody tells that a rule was changed.
      if (!isSlessError(error, "secret_missing")) retries.begin(workload);
    }
  }

  return {
    async apply(spec, replicas) {
      await apply(spec, replicas);
      const now = state(spec.workload) ?? { serving: 0, current: replicas === 0 };
      const children = applied.get(refText(spec.workload))?.children ?? [];
      await dropFormer(spec.workload, children, now.current, deps);
      return now;
    },
    state,
    hasDrifted,
    isAnothers: (workload) => applied.has(refText({ ...workload, kind: OTHER_KIND[workload.kind] })),
    isRefused: (workload) => applied.get(refText(workload))?.failure !== undefined,
    forget(workload) {
      const key = refText(workload);
      applied.delete(key);
      retries.end(workload);
      users.set(workload, undefined);
      rechecks.get(key)?.();
      rechecks.delete(key);
    },
  };
}

/** With these Kubernetes itself waits for what belongs to an object, and not for anybody. */
const OWN_FINALIZERS: readonly string[] = ["foregroundDeletion", "orphan"];

/** A child that cannot be made anew because somebody keeps the former one from going. */
function heldChild(children: readonly WantedChild[], view: ClusterView): Failure | undefined {
  for (const child of children) {
    const { kind } = child;
    const {
      name,
      deletionTimestamp,
      finalizers = [],
    } = liveOf(child, view)?.metadata ?? ({ name: child.metadata.name } as ApiMeta);
    const others = finalizers.filter((finalizer) => !OWN_FINALIZERS.includes(finalizer));
    if (deletionTimestamp === undefined || others.length === 0) continue;
    const { message } = new SlessError("child_held", { kind, name, finalizers: others.join(", ") });
    return { reason: "ChildTerminating", message };
  }
  return undefined;
}

/** @throws SlessError `secret_missing` when there are replicas that would need it */
async function childrenOf(spec: WorkloadSpec, replicas: number, deps: WorkloadDeps): Promise<WantedChild[]> {
  const { settings, view, registry, secrets } = deps;
  const values = await secrets.read(spec).catch((error: unknown) => {
    if (replicas > 0 || !isSlessError(error, "secret_missing")) throw error;
    return undefined;
  });
  const live = view.deployments.get(deployNamespaceOf(spec.workload.namespace), spec.workload.name);
  return wantedChildren(spec, replicas, { values, live, settings, pullSecret: registry.name });
}

/** Writes what differs. A namespace that went in the meantime is made again, once. */
async function writeChildren(
  workload: WorkloadRef,
  children: readonly WantedChild[],
  deps: WorkloadDeps,
): Promise<void> {
  try {
    for (const child of children) await writeChild(workload, child, deps);
  } catch (error) {
    if (!isApiError(error, 404)) throw error;
    for (const child of children) await writeChild(workload, child, deps);
  }
}

async function writeChild(workload: WorkloadRef, child: WantedChild, deps: WorkloadDeps): Promise<void> {
  const { view, writer, namespaces, registry } = deps;
  const live = liveOf(child, view);
  // One that is going is written when it is gone: its watch tells.
  if (live?.metadata.deletionTimestamp !== undefined || !writer.differs(child, live)) return;
  await namespaces.ensure(workload.namespace);
  await registry.ensure(workload.namespace);
  observe(child.kind, await writer.apply(child, live), view);
}

function liveOf({ kind, metadata }: WantedChild, view: ClusterView): LiveChild | undefined {
  return watchOf(kind, view).get(metadata.namespace, metadata.name);
}

function observe(kind: WantedChild["kind"], object: ApiObject, view: ClusterView): void {
  (watchOf(kind, view) as ClusterView["services"]).observe(object as LiveDeployment);
}

function watchOf(kind: WantedChild["kind"], view: ClusterView): ClusterView["services"] | ClusterView["deployments"] {
  if (kind === "Deployment") return view.deployments;
  return kind === "Service" ? view.services : view.secrets;
}
