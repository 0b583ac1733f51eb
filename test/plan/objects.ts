import {
  ANNOTATIONS,
  type AnyObject,
  API_VERSION,
  HELD,
  type Kind,
  LABELS,
  type ObjectIntent,
  refOf,
  sourceKey,
  type WorkloadRef,
  withDefaults,
} from "../../src/apis/index.ts";
import {
  type Action,
  appliedIntent,
  DEFAULT_GUARD,
  type DesiredObject,
  type DesiredSource,
  type DesiredState,
  type PlannedRepository,
  type PlanRequest,
} from "../../src/plan/index.ts";

export const OURS = "uid-ours";
export const THEIRS = "uid-theirs";
export const DEAD = "uid-dead";
export const REVISION = "main@sha1:0000000000000000000000000000000000000001";

export const repository: PlannedRepository = { uid: OURS, prune: true, guard: DEFAULT_GUARD };

/** A source whose digests are made of short texts. */
export function source(code: string, dependencies = "none"): DesiredSource {
  const digest = hex(`${code}+${dependencies}`);
  const files = [
    { path: "handler.py", mode: "100644", id: hex(code) },
    { path: "requirements.txt", mode: "100644", id: hex(dependencies) },
  ] as const;
  return { digest, dependenciesDigest: hex(dependencies), dependencyFiles: ["requirements.txt"], files };
}

function hex(text: string): string {
  return Buffer.from(text).toString("hex").padEnd(64, "0").slice(0, 64);
}

type IntentOf<K extends Kind> = ObjectIntent<K>;
interface Options {
  readonly file?: string;
  readonly labels?: Record<string, string>;
  readonly annotations?: Record<string, string>;
  readonly source?: DesiredSource;
}

function desired<K extends Kind>(kind: K, name: string, spec: IntentOf<K>["spec"], options: Options): DesiredObject {
  const { labels, annotations, file = `functions/${name}/function.yaml` } = options;
  const metadata = { name, namespace: "default", ...(labels && { labels }), ...(annotations && { annotations }) };
  const intent = { kind, metadata, spec } as ObjectIntent;
  return { intent, file, line: 1, column: 1, ...(options.source && { source: options.source }) };
}

export function fn(name: string, spec: IntentOf<"Function">["spec"] = {}, options: Options = {}): DesiredObject {
  return desired("Function", name, { runtime: "python3.11", ...spec }, { source: source("one"), ...options });
}

export function service(name: string, spec: IntentOf<"Service">["spec"] = {}, options: Options = {}): DesiredObject {
  return desired("Service", name, { runtime: "python3.11", ...spec }, { source: source("one"), ...options });
}

export function trigger(
  name: string,
  spec: Partial<IntentOf<"Trigger">["spec"]> = {},
  options: Options = {},
): DesiredObject {
  return desired("Trigger", name, { type: "http", functionRef: "hello", ...spec }, options);
}

export function job(name: string, spec: IntentOf<"FunctionJob">["spec"] = {}, options: Options = {}): DesiredObject {
  return desired("FunctionJob", name, { functionRef: "hello", ...spec }, options);
}

let versions = 0;

/** The live object that an apply of this intent makes: defaults filled, metadata complete. */
export function toLive(intent: ObjectIntent, previous?: AnyObject): AnyObject {
  const { name, namespace, labels, annotations } = intent.metadata;
  versions += 1;
  return {
    apiVersion: API_VERSION,
    kind: intent.kind,
    metadata: {
      name,
      namespace,
      uid: previous?.metadata.uid ?? `uid-of-${intent.kind}-${name}`,
      resourceVersion: String(versions),
      generation: 1,
      creationTimestamp: "2024-01-01T00:00:00Z",
      labels: { ...previous?.metadata.labels, ...labels },
      annotations: { ...previous?.metadata.annotations, ...annotations },
    },
    spec: withDefaults(intent.kind, intent.spec),
  } as AnyObject;
}

/** As our sync left it. */
export function ours(object: DesiredObject, change: LiveChange = {}): AnyObject {
  return changed(toLive(appliedIntent(object, repository, REVISION)), change);
}

/** As the sync of another repository left it, that is alive. */
export function theirs(object: DesiredObject, uid = THEIRS): AnyObject {
  return toLive(appliedIntent(object, { uid }, REVISION));
}

/** As somebody created it through the API, its source uploaded. */
export function nobodys(object: DesiredObject, change: LiveChange = {}): AnyObject {
  const { intent } = object;
  const s3Key = object.source && sourceKey(refOf(intent) as WorkloadRef, object.source.digest);
  return changed(toLive({ ...intent, spec: { ...intent.spec, ...(s3Key && { s3Key }) } }), change);
}

export interface LiveChange {
  readonly spec?: Record<string, unknown>;
  readonly annotations?: Record<string, string>;
  readonly labels?: Record<string, string>;
  readonly deleting?: boolean;
}

function changed(object: AnyObject, { spec, annotations, labels, deleting }: LiveChange): AnyObject {
  const metadata = {
    ...object.metadata,
    labels: { ...object.metadata.labels, ...labels },
    annotations: { ...object.metadata.annotations, ...annotations },
    ...(deleting && { deletionTimestamp: "2024-01-02T00:00:00Z" }),
  };
  return { ...object, metadata, spec: { ...object.spec, ...spec } } as AnyObject;
}

/** The annotation of an approval for the deletion of this very object. */
export function approved(object: AnyObject, uid = object.metadata.uid): AnyObject {
  return changed(object, { annotations: { [ANNOTATIONS.deletionApproved]: `${OURS}/${uid}` } });
}

/** As the sync leaves an object whose deletion waits for an approval. */
export function markHeld(object: AnyObject): AnyObject {
  return changed(object, { labels: { [LABELS.deletion]: HELD } });
}

export function state(objects: readonly DesiredObject[], more: Partial<DesiredState> = {}): DesiredState {
  return { revision: REVISION, objects, diagnostics: [], blocked: new Set(), blocksPruning: false, ...more };
}

export function request(
  objects: readonly DesiredObject[],
  live: readonly AnyObject[],
  more: Partial<DesiredState> & Partial<PlannedRepository> = {},
): PlanRequest {
  return {
    desired: state(objects, more),
    live,
    repository: { ...repository, ...more },
    isRepositoryAlive: (uid) => uid === OURS || uid === THEIRS,
  };
}

/** What a sync makes of a plan: writing actions applied, held objects marked; all else stays. */
export function applyActions(
  live: readonly AnyObject[],
  actions: readonly Action[],
  applier: PlannedRepository = repository,
): AnyObject[] {
  const objects = new Map(live.map((object) => [object.metadata.uid, object]));
  for (const action of actions) {
    if (action.kind === "delete") objects.delete(action.live.metadata.uid);
    if (action.kind === "hold" && action.because === "guard")
      objects.set(action.live.metadata.uid, markHeld(action.live));
    if (action.kind !== "create" && action.kind !== "update" && action.kind !== "adopt") continue;
    const previous = "live" in action ? action.live : undefined;
    const next = toLive(appliedIntent(action.desired, applier, REVISION), previous);
    objects.set(next.metadata.uid, next);
  }
  return [...objects.values()];
}
