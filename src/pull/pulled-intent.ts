import { isDeepStrictEqual } from "node:util";
import { ANNOTATIONS, type AnyObject, GROUP, type Kind, type ObjectIntent, withDefaults } from "../apis/index.ts";
import { LEFT_TO_OTHERS, MANAGED, writtenFields } from "./written-fields.ts";

type Fields = Readonly<Record<string, unknown>>;
type Texts = Readonly<Record<string, string>>;

/** Said by manifests to syncs; the server need not know them. */
const OF_MANIFESTS: readonly string[] = [ANNOTATIONS.adopt, ANNOTATIONS.prune, ANNOTATIONS.reconcile];
/** Repeats the whole object. */
const OF_KUBECTL = "kubectl.kubernetes.io/last-applied-configuration";

/**
 * What a manifest must say to be the live object: the fields that its repository's manifest wrote when it was last
 * synced. Where that is not known, fields that have their default and are not written stay unwritten, as do those that a
 * manifest leaves to others. What the server no longer has goes. Pure.
 *
 * @param present what the manifest says now; undefined when there is none
 */
export function pulledIntent(live: AnyObject, present: ObjectIntent | undefined): ObjectIntent {
  const { name, namespace, labels, annotations } = live.metadata;
  const ownLabels = pulledLabels(labels, present?.metadata.labels);
  const ownAnnotations = pulledAnnotations(annotations, present?.metadata.annotations);
  return {
    kind: live.kind,
    metadata: {
      name,
      namespace,
      ...(ownLabels && { labels: ownLabels }),
      ...(ownAnnotations && { annotations: ownAnnotations }),
    },
    spec: pulledSpec(live, present?.spec as Fields | undefined),
  };
}

function pulledSpec(live: AnyObject, present: Fields | undefined): Fields {
  const defaults = defaultsOf(live.kind);
  const written = writtenFields(live, defaults);
  const entries = Object.entries(live.spec).filter(([field, value]) => {
    if (value === undefined || MANAGED.includes(field)) return false;
    if (written?.has(field)) return true;
    // What scaling made of it would be lost with the server.
    if (present === undefined && LEFT_TO_OTHERS.includes(field)) return !isDeepStrictEqual(value, defaults[field]);
    if (written) return false;
    if (present && Object.hasOwn(present, field)) return true;
    if (present && LEFT_TO_OTHERS.includes(field)) return false;
    return !isDeepStrictEqual(value, defaults[field]);
  });
  return Object.fromEntries(entries);
}

const defaultsByKind = new Map<Kind, Fields>();

function defaultsOf(kind: Kind): Fields {
  const known = defaultsByKind.get(kind) ?? (withDefaults(kind, {}) as Fields);
  defaultsByKind.set(kind, known);
  return known;
}

function pulledLabels(live: Texts | undefined, present: Texts | undefined): Record<string, string> | undefined {
  return unlessEmpty(
    Object.entries(live ?? {}).filter(([key]) => !isOurs(key)),
    present,
  );
}

function pulledAnnotations(live: Texts | undefined, present: Texts | undefined): Record<string, string> | undefined {
  const others = Object.entries(live ?? {}).filter(([key]) => !isOurs(key) && key !== OF_KUBECTL);
  const said = OF_MANIFESTS.flatMap((key): [string, string][] => {
    const value = present?.[key] ?? live?.[key];
    return value === undefined ? [] : [[key, value]];
  });
  return unlessEmpty([...others, ...said], present);
}

function isOurs(key: string): boolean {
  return key.startsWith(`${GROUP}/`);
}

/** An empty map that a manifest writes stays there. */
function unlessEmpty(
  entries: readonly (readonly [string, string])[],
  present: Texts | undefined,
): Record<string, string> | undefined {
  const isWritten = present !== undefined && Object.keys(present).length === 0;
  return entries.length > 0 || isWritten ? Object.fromEntries(entries) : undefined;
}
